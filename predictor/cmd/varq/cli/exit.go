package cli

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of commands.
const (
	ExitOK     = 0 // the answer is yes
	ExitNo     = 1 // the answer is no
	ExitUsage  = 2 // the command line makes no sense
	ExitFailed = 3 // there is no answer
)

// Exit shows why a command of a program has failed, if it has, and returns the exit code.
func (e *Env) Exit(program string, err error) int {
	var usage UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrNo):
		return ExitNo
	}
	fmt.Fprintf(e.Stderr, "%s: %s\n", program, PrintableLines(err.Error()))
	if !errors.As(err, &usage) {
		return ExitFailed
	}
	if usage.Command != "" {
		fmt.Fprintf(e.Stderr, "Try '%s --help'.\n", usage.Command)
	}
	return ExitUsage
}

// PrintableLines is Printable for a text of several lines.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
