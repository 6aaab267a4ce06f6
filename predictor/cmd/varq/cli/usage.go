package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is a fault of the command line.
type UsageError struct {
	Command string // the command to read the help of
	Err     error
}

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the fault itself.
func (e UsageError) Unwrap() error { return e.Err }

// Usage makes err a fault of the command line of cmd.
func Usage(cmd *cobra.Command, err error) error {
	return UsageError{cmd.CommandPath(), err}
}

// NoArguments accepts options alone.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(cmd, fmt.Errorf("%q is not an option; %s takes nothing else", args[0], cmd.CommandPath()))
}

// Names returns the names of all.
func Names[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = name(v)
	}
	return names
}

// Choose returns the one of all whose name is text, the value of a flag.
func Choose[T any](flag, text string, all []T, name func(T) string) (T, error) {
	for _, v := range all {
		if name(v) == text {
			return v, nil
		}
	}
	var zero T
	return zero, fmt.Errorf("--%s: %q is none of %s", flag, text, strings.Join(Names(all, name), ", "))
}
