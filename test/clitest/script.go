package clitest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// ScriptEnv returns the environment of a command that a script runs in the test's process. Its
// standard input is the script's file stdin, if there is one.
func ScriptEnv(ts *testscript.TestScript) cli.Env {
	stdin, err := os.ReadFile(ts.MkAbs("stdin"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	zone, err := time.LoadLocation(ts.Getenv("TZ"))
	if err != nil {
		ts.Fatalf("%v", err)
	}
	return cli.Env{
		Stdin:   bytes.NewReader(stdin),
		Stdout:  ts.Stdout(),
		Stderr:  ts.Stderr(),
		Getenv:  ts.Getenv,
		Elapsed: func() time.Duration { return Elapsed },
		Zone:    zone,
	}
}

// Examples runs every example that the help of root's commands shows, at least so many, as a script
// with p. lines returns what a line of an example is in the script, and whether the line is a
// command of the program.
func Examples(t *testing.T, root *cobra.Command, p testscript.Params, least int, lines func(example string) (script string, command bool)) {
	t.Helper()
	var script strings.Builder
	var count int
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Runnable() && cmd.Example == "" && !cmd.Hidden {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			text, command := lines(strings.TrimSpace(line))
			script.WriteString(text)
			if command {
				count++
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if count < least {
		t.Errorf("only %d examples were found", count)
	}
	file := filepath.Join(t.TempDir(), "examples.txt")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Files = []string{file}
	testscript.Run(t, p)
}
