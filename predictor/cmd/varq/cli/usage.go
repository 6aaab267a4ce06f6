package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is an error of the command line.
type UsageError struct {
	Command string // whose help tells more; empty if none does
	Err     error
}

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.Err }

// Usage makes err an error of the command line of cmd.
func Usage(cmd *cobra.Command, err error) error {
	return UsageError{cmd.CommandPath(), err}
}

// FlagUsage is Usage for an error of pflag's. What is wrong with a value is said in words, and not
// in those of package strconv. Of an option of sbatch it is said that -- comes first.
func FlagUsage(cmd *cobra.Command, err error) error {
	before := cmd.Flags().Args() // this option
	if strings.Contains(cmd.Use, " -- ") && slices.ContainsFunc(before, func(arg string) bool { return filepath.Base(arg) == "sbatch" }) {
		return Usage(cmd, fmt.Errorf("put -- before sbatch, as its options are none of %s: %w", cmd.CommandPath(), err))
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return Usage(cmd, err)
	}
	if bad.GetValue() == "" {
		return Usage(cmd, needsValue(bad.GetFlag()))
	}
	why := bad.Unwrap()
	if number, ok := errors.AsType[*strconv.NumError](why); ok {
		wants := map[string]string{"ParseInt": "not a whole number", "ParseFloat": "not a number", "ParseBool": "neither true nor false"}
		is := cmp.Or(wants[number.Func], "no number for it")
		if errors.Is(number, strconv.ErrRange) {
			is = "out of all bounds"
		}
		why = fmt.Errorf("%.40q is %s", bad.GetValue(), is)
	}
	return Usage(cmd, fmt.Errorf("--%s: %w", bad.GetFlag().Name, why))
}

// checkEmpty returns an error for an option that is given without a value, as by a variable of a
// shell that is empty: its command would take it for one that is not given. What MayBeEmpty may.
func checkEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if value := flag.Value.String(); err == nil && (value == "" || value == "[]") && flag.Annotations[mayBeEmpty] == nil {
			err = Usage(cmd, needsValue(flag))
		}
	})
	return err
}

func needsValue(flag *pflag.Flag) error {
	return fmt.Errorf("--%s needs a value: is a variable of your shell empty?", flag.Name)
}

// mayBeEmpty is the annotation of options that may be given without a value.
const mayBeEmpty = "varq-may-be-empty"

// MayBeEmpty lets options be given without a value, as Slurm takes them.
func MayBeEmpty(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, mayBeEmpty, []string{})
	}
}

// NoArguments is a cobra.PositionalArgs: it refuses all arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(cmd, fmt.Errorf("%q is not an option; %s takes nothing else", args[0], cmd.CommandPath()))
}

// OneFile is a cobra.PositionalArgs: it accepts one argument, or none.
func OneFile(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return Usage(cmd, fmt.Errorf("%q is one too many: one file at a time", args[1]))
}

// ErrNo ends a command whose answer is no, without a message.
var ErrNo = errors.New("no")
