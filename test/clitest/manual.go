package clitest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/packaging/man/page"
	"github.com/varq-project/varq/test/golden"
)

// The folders with the manual pages and their sources.
var (
	pages   = file("../../packaging/man")
	sources = filepath.Join(pages, "src")
)

// Manual checks that the manual pages of a program and its commands are what package page makes of
// their help and their sources. With -update, it writes these pages.
func Manual(t *testing.T, root *cobra.Command) {
	t.Helper()
	changelog, err := os.ReadFile(file("../../CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	released, err := page.Released(string(changelog))
	if err != nil {
		t.Fatal(err)
	}
	want, err := page.Of(root, os.DirFS(sources), released)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		path := filepath.Join(pages, name)
		if diff := cmp.Diff(string(text), string(golden.Want(t, path, text))); diff != "" {
			t.Errorf("%s is not what the command's help and its source say: run make generate (-want +got):\n%s", name, diff)
		}
	}
}

// Explained checks that lists of a manual page of section 1 explain the names, of columns or of
// values. One string may have several names, separated by commas.
func Explained(t testing.TB, name string, names ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pages, name+".1"))
	if err != nil {
		t.Fatal(err)
	}
	for column := range strings.SplitSeq(strings.Join(names, ","), ",") {
		if !regexp.MustCompile(`(?m)^\.It Cm .*\b` + column + `\b`).Match(text) {
			t.Errorf("%s(1) does not explain %s", name, column)
		}
	}
}
