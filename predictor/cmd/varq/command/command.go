// Package command holds the subcommands of varq, each in files of its name. They
// ask varqd, or simulate, and show the answer: tables and sentences for people,
// JSON or bars for scripts.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// The exit codes of varq.
const (
	ExitOK     = 0 // varqd answered, and the answer is yes
	ExitNo     = 1 // varqd answered: no such promise can be made, or was
	ExitUsage  = 2 // the command line makes no sense
	ExitFailed = 3 // varqd could not be asked or answer; a simulation failed
)

// Env is the world a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() int64         // Unix seconds
	Elapsed        func() time.Duration // since the process began; progress is shown by this clock
	Zone           *time.Location       // of the times read and shown
	Studies        map[string]study.Study
}

// errNo ends a command with ExitNo. What there is to say has been said.
var errNo = errors.New("no")

// usageError is the fault of the command line.
type usageError struct {
	command string // the command to read the help of
	err     error
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Run executes the command line args, without the program's name, and returns
// the exit code.
func Run(args []string, env Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(&env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errNo):
		return ExitNo
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "varq: %v\nTry '%s --help'.\n", err, usage.command)
		return ExitUsage
	default:
		fmt.Fprintf(env.Stderr, "varq: %v\n", err)
		if errors.Is(err, client.ErrUnreachable) {
			fmt.Fprintf(env.Stderr, "Is it running? 'systemctl status varqd' on its host tells. Is it elsewhere?\n"+
				"Say where by --endpoint, VARQ_ENDPOINT, or client.endpoint in %s.\n", config.Path(env.Getenv))
		}
		return ExitFailed
	}
}

// newRoot returns the command varq with all its subcommands.
func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "varq",
		Short: "Reservations made of probability, for the users of a Slurm cluster",
		Long: `varq shows what the reservations of this cluster can promise, what they did
promise, and what became of it. A reservation itself is made with sbatch, srun
or salloc:

  sbatch --begin-by=17:00 --prob=0.9 job.sh

Its work is running by 17:00 with a probability of at least 0.9.`,
		Example: `  varq quote -N4 -t 1:00:00 --begin-by=17:00
  varq status`,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{cmd.CommandPath(), err}
	})
	link := addEndpoint(root, env)
	root.AddCommand(
		newQuote(env, link),
		newPredict(env, link),
		newStatus(env, link),
		newReport(env, link),
		newSimulate(env),
		newEvaluate(env),
		newTrace(env),
		newStudy(env),
		newVersion(env),
	)
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true // each tells its own
	}
	return root
}

// unknownCommand accepts no argument, and takes one for a misspelt command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no command %q", args[0])
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(similar, " or "))
	}
	return usageError{cmd.CommandPath(), err}
}

// noArguments accepts options alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{cmd.CommandPath(), fmt.Errorf("%q is not an option; %s takes nothing else", args[0], cmd.CommandPath())}
}

// writeJSON shows v as varqd sent it.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
