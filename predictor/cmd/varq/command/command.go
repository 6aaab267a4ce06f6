// Package command is the command line of varq: the root command, of which the packages beside this
// one have the subcommands. Commands show tables and sentences to people. For scripts they show
// JSON, or tables with bars between the columns.
package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/advise"
	"github.com/varq-project/varq/predictor/cmd/varq/chain"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/every"
	"github.com/varq-project/varq/predictor/cmd/varq/flow"
	"github.com/varq-project/varq/predictor/cmd/varq/ledger"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/nodes"
	"github.com/varq-project/varq/predictor/cmd/varq/quote"
	"github.com/varq-project/varq/predictor/cmd/varq/report"
	"github.com/varq-project/varq/predictor/cmd/varq/reserve"
	"github.com/varq-project/varq/predictor/cmd/varq/size"
	"github.com/varq-project/varq/predictor/cmd/varq/status"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
	"github.com/varq-project/varq/predictor/cmd/varq/when"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/doctor"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// The exit codes of varq.
const (
	ExitOK = cli.ExitOK // varqd answered, and the answer is yes; to checkpoint
	// varqd answered, and the answer is no: refused, not permitted, or no such thing; to skip a
	// checkpoint
	ExitNo     = cli.ExitNo
	ExitUsage  = cli.ExitUsage  // the command line makes no sense
	ExitFailed = cli.ExitFailed // varqd could not be asked or answer
)

// Env is the environment of the command line.
type Env struct {
	cli.Env
	// Host examines this host; see package doctor.
	Host func(ctx context.Context, mungeSocket string) []doctor.Finding
	// Scancel runs Slurm's scancel with args.
	Scancel func(ctx context.Context, args ...string) error
	// Serve serves the pages of varq web; see web.Serve.
	Serve func(ctx context.Context, address string, handler func(at net.Addr) http.Handler) error
	// Sacct runs Slurm's sacct about the jobs of the user who runs varq; it prints times in Unix
	// seconds.
	Sacct sites.Sacct
	// Alone is who answers where there is no varqd, or nil.
	Alone link.Alone
}

// Run executes the command line args, without the program's name, and returns
// the exit code.
func Run(args []string, env Env) int {
	varqd := &link.Link{Getenv: env.Getenv, Alone: env.Alone}
	err := cli.Execute(newRoot(&env, varqd), args)
	if err != nil && size.AsksForOptions(args) {
		size.RefuseOptions(env.Stdout, err)
	}
	code := env.Exit("varq", err)
	switch {
	case code != ExitFailed:
	case api.Refused(err):
		return ExitNo
	case errors.Is(err, client.ErrUnreachable):
		fmt.Fprintln(env.Stderr, varqd.Advice())
	}
	return code
}

// newRoot returns the command varq with all its subcommands. They ask varqd, which its options fill
// in.
func newRoot(env *Env, varqd *link.Link) *cobra.Command {
	root := &cobra.Command{
		Use:   "varq",
		Short: "Reservations made of probability, for the users of a Slurm cluster",
		Long: `varq shows what the reservations of this cluster can promise, what they did
promise, and what became of it. A reservation itself is made with sbatch, srun
or salloc:

  sbatch --begin-by=17:00 --prob=0.9 job.sh

Its work is running by 17:00 with a probability of at least 0.9.

On a cluster without varqd, varq-alone has when, predict, quote --advisory and
shadow --mine. It forecasts, and promises nothing.`,
		Example: `  varq quote -N4 -t 1:00:00 --begin-by=17:00
  varq status`,
	}
	shared := &env.Env
	varqd.Add(root)
	return cli.Root(shared, root,
		quote.New(shared, varqd),
		quote.NewPredict(shared, varqd),
		when.New(shared, varqd),
		flow.New(shared, varqd),
		chain.New(shared),
		reserve.New(shared, varqd),
		reserve.NewSites(shared, varqd),
		size.New(shared, varqd, env.Sacct),
		status.New(shared, varqd),
		status.NewCancel(shared, varqd),
		status.NewAccept(shared, varqd),
		status.NewLimits(shared, varqd),
		nodes.New(shared, varqd),
		report.New(shared, varqd),
		report.NewShadow(shared, varqd),
		web.New(shared, pages(varqd, env.Serve, env.Scancel)),
		newDoctor(shared, varqd, env.Host),
		advise.New(shared, varqd),
		ledger.New(shared),
		every.New(shared, func() (every.Varqd, error) { return varqd.Dial() }, flow.Check),
		newMoved("simulate"),
		newMoved("evaluate"),
		newMoved("trace"),
		newMoved("study"),
	)
}
