// Package command is the command line of varq. It has the root command, the subcommands that
// ask varqd, and the subcommands advise, ledger, trace and study, each in files of its name. The subcommands
// simulate, evaluate and every are packages of their own. Commands show tables and sentences to
// people. For scripts they show JSON, or tables with bars between the columns.
package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/evaluate"
	"github.com/varq-project/varq/predictor/cmd/varq/every"
	"github.com/varq-project/varq/predictor/cmd/varq/simulate"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

// The exit codes of varq.
const (
	ExitOK     = 0 // varqd answered, and the answer is yes; to checkpoint
	ExitNo     = 1 // varqd answered, and the answer is no: refused, not permitted, or no such thing; to skip a checkpoint
	ExitUsage  = 2 // the command line makes no sense
	ExitFailed = 3 // varqd could not be asked or answer; a simulation failed
)

// Env is the environment of the command line.
type Env struct {
	cli.Env
	Studies map[string]study.Study // by name
	// Host examines this host; see package doctor.
	Host func(ctx context.Context, mungeSocket string) []doctor.Finding
	// Scancel runs Slurm's scancel with args.
	Scancel func(ctx context.Context, args ...string) error
	// Serve serves the pages of varq web; see web.Serve.
	Serve func(ctx context.Context, address string, handler func(at net.Addr) http.Handler) error
	// Sacct runs Slurm's sacct at path with args and variables added to the environment, about the jobs of the user who runs
	// varq, and returns what it prints, with times in Unix seconds.
	Sacct func(ctx context.Context, path string, variables []string, args ...string) ([]byte, error)

	here string // the name of the only cluster that a command is about, if nobody has named it: texts need not
}

// errNo ends a command with ExitNo and without a message.
var errNo = cli.ErrNo

// Run executes the command line args, without the program's name, and returns
// the exit code.
func Run(args []string, env Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := newRoot(&env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && asksForOptions(args) {
		env.refuseOptions(err)
	}
	var usage cli.UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errNo):
		return ExitNo
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "varq: %s\nTry '%s --help'.\n", printable(err), usage.Command)
		return ExitUsage
	case api.Refused(err):
		fmt.Fprintf(env.Stderr, "varq: %s\n", printable(err))
		return ExitNo
	default:
		fmt.Fprintf(env.Stderr, "varq: %s\n", printable(err))
		if errors.Is(err, client.ErrUnreachable) {
			fmt.Fprintf(env.Stderr, "Is it running? 'systemctl status varqd' on its host tells. Is it elsewhere?\n"+
				"Say where by --endpoint, VARQ_ENDPOINT, or client.endpoint in %s.\n", config.Path(env.Getenv))
		}
		return ExitFailed
	}
}

// printable returns what a terminal may show of an error, which may have several lines.
func printable(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = cli.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
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
	root.SetFlagErrorFunc(cli.FlagUsage)
	link := addEndpoint(root, env)
	root.AddCommand(
		newQuote(env, link),
		newPredict(env, link),
		newReserve(env, link),
		newSites(env, link),
		newSize(env, link),
		newStatus(env, link),
		newCancel(env, link),
		newAccept(env, link),
		newLimits(env, link),
		newNodes(env, link),
		newReport(env, link),
		web.New(&env.Env, link.forPages()),
		newDoctor(env, link),
		newAdvise(env, link),
		newLedger(env),
		every.New(&env.Env, func() (every.Varqd, error) { return link.dial() }),
		simulate.New(&env.Env),
		evaluate.New(&env.Env),
		newTrace(env),
		newStudy(env),
		newVersion(env),
	)
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true // each Use has its own
	}
	return root
}

// unknownCommand accepts no argument. Its error takes an argument for a misspelt command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no command %q", args[0])
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(similar, " or "))
	}
	return cli.Usage(cmd, err)
}
