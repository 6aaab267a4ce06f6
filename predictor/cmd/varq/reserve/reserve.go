// Package reserve has the commands reserve and sites. The command reserve submits a job with a
// promise, with the size, at the time and in the cluster that the user prefers, or in several
// clusters together. The command sites lists the clusters.
package reserve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// New returns the command reserve.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reserve --latest=TIME|--finish-by=TIME [options] -- sbatch [options of sbatch] SCRIPT",
		Short: "Submit a job whose size, time and cluster are chosen by what you prefer",
		Long: `Reserve submits a job with a promise, as sbatch --begin-by does. But the job need
not be rigid: it may have several sizes, begin at any time of a window, and run in
several partitions or clusters. Each cluster says what it could promise, these
slots are put into the order of --prefer, and the first one that holds is taken.

Sizes are NODES:TIME, and TIME is the time limit of the work. Or --nodes has numbers
as Slurm writes them, --ref-nodes says on how many nodes sbatch's --time is meant,
and --speedup how much faster more nodes are.

What follows -- is given to sbatch, of the cluster at hand; the script is a file, or
--wrap. The job is told what it got: VARQ_NODES, VARQ_TIME (seconds) and VARQ_SITE.
If reserve is interrupted, nothing is left; nor if a cluster does not answer any more:
after --patience, the next one is tried. At a cluster without varqd nobody keeps a
promise: the job begins at its time or later, and its probability is an estimate.

With --any-of the job is submitted to all clusters and partitions at once, and
starts as soon as it can: the first to start runs, and the others are cancelled.
--min-prob is then about all of them together. With --all-of a copy of the job runs
in each cluster, and all begin at the same time, within seconds, or none does. For
up to half a minute they wait for one another. --clusters=alpha,beta/gamma has
alternatives: a copy in alpha and one in beta or gamma, whichever is there first. In
both cases varqd sees to it: what becomes of this command afterwards, or of the
terminal, does not matter.`,
		Example: `  varq reserve --latest=17:00 --sizes=4:2h,8:1h10m,16:45m -- sbatch job.sh
  varq reserve --finish-by=tomorrow --clusters=all --prefer=cost,end -- sbatch -N4 -t 2:00:00 job.sh
  varq reserve --latest=17:00 --nodes=2-32 --ref-nodes=8 --speedup=amdahl:.01 -- sbatch -t 90 job.sh
  varq reserve --latest=17:00 --partitions=main,long --dry-run -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --any-of --clusters=all -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --all-of --clusters=alpha,beta -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --all-of --clusters=alpha,beta/gamma -- sbatch -N4 -t 30 job.sh
  varq reserve --file=request.yaml`,
	}
	cmd.Flags().SortFlags = false
	f := &flags{}
	f.add(cmd)
	asJSON := options.AddJSON(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		if err := f.read(cmd.Context(), cmd.Flags(), args); err != nil {
			return usage(err)
		}
		r, err := f.request(env)
		if err != nil {
			return usage(f.blame(err))
		}
		all, err := link.Sites(strings.ReplaceAll(f.Clusters, alternatives, ","))
		if err != nil {
			return usage(f.blame(err))
		}
		if err := r.choose(all); err != nil {
			return usage(err)
		}
		job := &sites.Job{Command: f.Command, BestEffort: f.bestEffort(), Reference: r.nodes != nil}
		err = f.describe(cmd.Context(), sites.Reader(all), job, r)
		var failed *sbatchFailed
		switch {
		case err == nil:
		case cmd.Context().Err() != nil:
			return broker.ErrInterrupted
		case errors.As(err, &failed):
			return err
		default:
			return usage(err)
		}
		for _, note := range r.notes {
			fmt.Fprintf(env.Stderr, "varq: %s\n", cli.Printable(note))
		}
		among := make([]broker.Site, len(all))
		for i, s := range all {
			among[i] = s.For(job)
		}
		result, err := broker.Run(cmd.Context(), among, r.Request)
		t := teller{Env: env, answers: result.Sites, asJSON: *asJSON}
		if !all[0].Named {
			t.here = all[0].Name()
		}
		if err != nil || !*asJSON {
			t.left(result.Left)
		}
		switch {
		case err != nil:
			return r.explain(env, err)
		case r.Kind != "":
			return t.group(&result.Group, f.dryRun)
		case f.dryRun:
			return t.slots(result.Slots, f.esr)
		}
		return t.outcome(&result.Outcome, result.Left, job.Description.Parsable)
	}
	return cmd
}
