// Package clitest helps to test the commands of varq and varq-lab.
package clitest

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// Elapsed is the running time that commands report in tests.
const Elapsed = 2 * time.Second

// Log returns the name of a log of 600 made up jobs on 64 processors.
func Log() string { return file("../../predictor/cmd/varq-lab/testdata/log.swf") }

// file returns the absolute name of a file, given relative to this one.
func file(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), name)
}

// Run runs a command that must succeed and print nothing to standard error. It returns the
// command's standard output.
func Run(t testing.TB, newCommand func(*cli.Env) *cobra.Command, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newCommand(&cli.Env{
		Stdout:  &stdout,
		Stderr:  &stderr,
		Getenv:  func(string) string { return "" },
		Elapsed: func() time.Duration { return Elapsed },
		Zone:    time.UTC,
	})
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SilenceUsage = true
	if err := cmd.Execute(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%s %s: %v\n%s", cmd.Name(), strings.Join(args, " "), err, &stderr)
	}
	return stdout.Bytes()
}
