package clitest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// Help checks that the help of a program and of its commands, but for hidden ones, fits into lines
// of cli.HelpWidth. A line may be longer if a word takes most of it.
func Help(t *testing.T, root *cobra.Command) {
	t.Helper()
	var text bytes.Buffer
	root.SetOut(&text)
	commands := []*cobra.Command{root}
	for len(commands) > 0 {
		cmd := commands[0]
		commands = slices.Concat(commands[1:], cmd.Commands())
		if cmd.Hidden {
			continue
		}
		text.Reset()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			line = strings.TrimSuffix(line, "\n")
			long := func(word string) bool { return len(word) > cli.HelpWidth*9/10 }
			if n := len([]rune(line)); n > cli.HelpWidth && !slices.ContainsFunc(strings.Fields(line), long) {
				t.Errorf("%s --help: %d characters: %s", cmd.CommandPath(), n, line)
			}
		}
	}
}
