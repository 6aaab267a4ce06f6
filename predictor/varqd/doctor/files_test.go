package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// The program that notices are handed to must be there, and nobody else may change it.
func TestNoticesProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		command string
		want    Verdict
		says    string
	}{
		"there":              {write("there", 0o755) + " -v", OK, "there"},
		"missing":            {filepath.Join(dir, "missing"), Failure, "missing"},
		"a folder":           {dir, Failure, "directory"},
		"not executable":     {write("text", 0o644), Failure, "permission"},
		"anybody changes it": {write("open", 0o777), Failure, "can be changed by anybody"},
	} {
		var c2 config.Config
		c2.Notices.Command = c.command
		found := false
		for _, f := range Files(&c2) {
			if f.Of == "notices.command" {
				found = true
				if f.Verdict != c.want || !strings.Contains(f.Found, c.says) {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said", name)
		}
	}
}
