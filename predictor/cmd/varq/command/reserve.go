package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

func newReserve(env *Env, link *link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reserve --latest=TIME|--finish-by=TIME [options] -- sbatch [options of sbatch] SCRIPT",
		Short: "Submit a job whose size, time and site are chosen by what you prefer",
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
up to half a minute they wait for one another. --clusters=alpha,beta/gamma has alternatives:
a copy in alpha and one in beta or gamma, whichever is there first. In both cases varqd sees to it: what
becomes of this command afterwards, or of the terminal, does not matter.`,
		Example: `  varq reserve --latest=17:00 --sizes=4:2h,8:1h10m,16:45m -- sbatch job.sh
  varq reserve --finish-by=tomorrow --clusters=all --prefer=cost,end --min-prob=0.9 -- sbatch -N4 -t 2:00:00 job.sh
  varq reserve --latest=17:00 --nodes=2-32 --ref-nodes=8 --speedup=amdahl:0.01 -- sbatch -t 2:00:00 job.sh
  varq reserve --latest=17:00 --partitions=main,long --dry-run -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --any-of --clusters=all -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --all-of --clusters=alpha,beta -- sbatch -N4 -t 30 job.sh
  varq reserve --latest=17:00 --all-of --clusters=alpha,beta/gamma -- sbatch -N4 -t 30 job.sh
  varq reserve --file=request.yaml`,
	}
	cmd.Flags().SortFlags = false
	f := &reserveFlags{}
	f.add(cmd)
	asJSON := addJSON(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		if err := f.read(cmd.Context(), cmd.Flags(), args); err != nil {
			return usage(err)
		}
		r, err := f.request(env)
		if err != nil {
			return usage(f.blame(err))
		}
		sites, err := link.openSites(strings.ReplaceAll(f.Clusters, alternatives, ","))
		if err != nil {
			return usage(f.blame(err))
		}
		if err := r.divide(sites); err != nil {
			return usage(err)
		}
		if !sites[0].named {
			env.here = sites[0].Name()
		}
		for _, s := range sites {
			s.job, s.best, s.refer = f.Command, r.probe.BestEffort, r.nodes != nil
		}
		if r.kind != "" {
			if err := refuseBare(sites, map[string]string{api.GroupAny: "--any-of", api.GroupAll: "--all-of"}[r.kind]); err != nil {
				return usage(err)
			}
		}
		job, err := f.describe(cmd.Context(), link.describer(sites), r)
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
		if err := r.prepare(cmd.Context(), homeOf(sites), sites); err != nil {
			return err
		}
		all := make([]broker.Site, len(sites))
		for i, s := range sites {
			s.sizes, s.described, all[i] = r.sized, job, s.asBroker()
		}
		answers := broker.Probe(cmd.Context(), all, r.probe)
		if r.kind != "" {
			return env.reserveGroup(cmd.Context(), r, sites, answers, f.dryRun, *asJSON)
		}
		if f.dryRun {
			return env.showSlots(broker.Rank(answers, r.prefer), answers, f.esr, *asJSON)
		}
		outcome, err := broker.Reserve(cmd.Context(), all, answers, broker.Options{
			Prefer: r.prefer, Tries: maxTries, Tentative: r.patience, Pause: confirmPause,
			Now: func() time.Time { return time.Unix(env.Now(), 0) },
		})
		remains := settle(cmd.Context(), all)
		if err != nil || !*asJSON {
			env.showLeft(remains)
		}
		if err != nil {
			return err
		}
		return env.showOutcome(outcome, answers, remains, r.parsable, *asJSON)
	}
	return cmd
}

// How reserve tries slots.
const (
	maxTries     = 20
	confirmPause = 500 * time.Millisecond
)
