package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// UsageError is an error of the command line.
type UsageError struct {
	Command string // whose help tells more
	Err     error
}

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// Usage makes err an error of the command line of cmd.
func Usage(cmd *cobra.Command, err error) error {
	return UsageError{cmd.CommandPath(), err}
}

// NoArguments is a cobra.PositionalArgs: it refuses all arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(cmd, fmt.Errorf("%q is not an option; %s takes nothing else", args[0], cmd.CommandPath()))
}
