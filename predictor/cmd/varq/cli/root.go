package cli

import (
	"context"
	"fmt"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
)

// Root makes root the command of a program, of which all others are subcommands.
func Root(env *Env, root *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	root.Args = UnknownCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", fmt.Sprintf(".FlagUsagesWrapped %d |", HelpWidth)))
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(FlagUsage)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkEmpty(cmd) }
	root.AddCommand(commands...)
	root.AddCommand(newVersion(env, root.Name()))
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true // each Use has its own
	}
	return root
}

// HelpWidth is how many characters a line of a command's help has at most.
const HelpWidth = 100

// Wrap breaks a list, separated by commas, into lines of a help.
func Wrap(list string) string {
	var lines []string
	for name := range strings.SplitSeq(list, ",") {
		last := len(lines) - 1
		if last < 0 || len(lines[last])+len(",")+len(name)+len(",") > HelpWidth {
			lines = append(lines, name)
		} else {
			lines[last] += "," + name
		}
	}
	return strings.Join(lines, ",\n")
}

// Execute executes the command line args, without the program's name, until it ends or a signal
// ends it.
func Execute(root *cobra.Command, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// UnknownCommand is a cobra.PositionalArgs: it accepts no argument. Its error takes an argument for
// a misspelt command.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no command %q", args[0])
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(similar, " or "))
	}
	return Usage(cmd, err)
}

func newVersion(env *Env, program string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print " + program + "'s version",
		Example: "  " + program + " version",
		Args:    NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(env.Stdout, "%s %s %s/%s\n", program, api.Version, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
