// Package advise is the command that tells a job whether to checkpoint now.
package advise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
)

// New returns the command advise.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advise --cost=TIME --interval=TIME [options]",
		Short: "Tell a job whether to checkpoint now",
		Long: `Advise tells an application that could checkpoint now whether it should: by its exit
code, 0 to checkpoint and 1 to go on working, and in words. An application asks
after each interval of work:

  if varq advise --cost=12m --interval=1h --since-last=3; then
      ./checkpoint
  fi

It weighs what a failure of a node would cost against what the checkpoint costs, and
looks ahead: shortly before the work is done none is worth its cost, before the job
is stopped at its time limit one is made that is still complete, and none that would
make the job miss its deadline. Young's and Daly's intervals stand beside it.

Within a job its nodes and its end are known from SLURM_JOB_NODELIST and
SLURM_JOB_END_TIME, and how likely these nodes are to fail, and the next maintenance or
drain on them, from varqd. Its answer is kept on the node, in a file of the user's: it
is asked at most once in ten minutes, and while it is away the advice goes by what it
said last, and says how old that is. With --mtbf nobody is asked.`,
		Example: `  varq advise --cost=12m --interval=1h --since-last=6 --mtbf=200-0 --nodes=64
  varq advise --cost=90s --interval=10m --since-last=12 --mtbf=2-0 --left=20h --deadline=tomorrow
  varq advise --cost=12m --interval=1h --mtbf=200-0 --nodes=64 --end=now+70minutes --json`,
		Args: cli.NoArguments,
	}
	f := &flags{}
	f.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.given("scr") && !slices.Contains(scrSettings, f.scr) {
			return cli.Usage(cmd, fmt.Errorf("--scr: %.40q is none of %s", f.scr, strings.Join(scrSettings, ", ")))
		}
		request, err := f.request(env)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		ends := request.Ends
		from, err := f.learn(cmd.Context(), env, link, request)
		if _, ok := errors.AsType[notKnown](err); ok {
			return err
		}
		if err == nil {
			err = f.check(request)
		}
		if err != nil {
			return cli.Usage(cmd, err)
		}
		if f.given("scr") {
			return write(env, newSCR(request, f.scr), f.json)
		}
		advice := newAdvice(env, request, from)
		if request.Ends != ends {
			advice.Maintenance = from.known.Maintenance
		}
		if err := write(env, advice, f.json); err != nil || advice.Checkpoint {
			return err
		}
		return cli.ErrNo
	}
	return cmd
}

// write prints an answer in words or in JSON.
func write(env *cli.Env, answer fmt.Stringer, inJSON bool) error {
	if inJSON {
		return cli.WriteJSON(env.Stdout, answer)
	}
	_, err := fmt.Fprint(env.Stdout, answer)
	return err
}
