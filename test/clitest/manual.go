package clitest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manual returns the text of the manual page of a program.
func manual(t testing.TB, program string) string {
	t.Helper()
	text, err := os.ReadFile(file("../../packaging/man/" + program + ".1"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Described checks that the manual page of a program has its commands and their options, but for
// those that are hidden.
func Described(t testing.TB, root *cobra.Command) {
	t.Helper()
	page := manual(t, root.Name())
	mentions := func(what, macro string) {
		t.Helper()
		if !strings.Contains(page, macro) {
			t.Errorf("%s(1) has no %s (%q)", root.Name(), what, macro)
		}
	}
	root.InitDefaultCompletionCmd("bash")
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			macro := "Fl Fl " + flag.Name
			if flag.Shorthand != "" {
				macro = ".It Fl " + flag.Shorthand + " , " + macro
			}
			mentions(cmd.CommandPath()+" --"+flag.Name, macro)
		})
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			name := strings.TrimPrefix(sub.CommandPath(), root.Name()+" ")
			mentions("command "+name, "\n.It Cm "+name+"\n")
			if sub.Name() != "completion" {
				visit(sub)
			}
		}
	}
	visit(root)
}

// Explained checks that lists of the manual page of a program explain the names, of columns or of
// values. One string may have several names, separated by commas.
func Explained(t testing.TB, program string, names ...string) {
	t.Helper()
	page := manual(t, program)
	for name := range strings.SplitSeq(strings.Join(names, ","), ",") {
		if !regexp.MustCompile(`(?m)^\.It Cm .*\b` + name + `\b`).MatchString(page) {
			t.Errorf("%s(1) does not explain %s", program, name)
		}
	}
}
