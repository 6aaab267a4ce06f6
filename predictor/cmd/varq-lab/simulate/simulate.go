// Package simulate is the command that simulates the jobs of a log with reservations. It
// shows the effects on the jobs that reserve and on all others.
package simulate

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// kinds explains --reservations.
const kinds = `  none
      Nobody reserves.
  hard=SHARE[,ahead=2h][,protected=100%][,restart=A]
      This share of the jobs, 10% for instance, ask for a fixed time up to two hours
      ahead, and take the nearest that the scheduler offers. It does not delay the
      protected share of the queue, nor stop jobs that run unless restart lets it.
  varq=SHARE[,prob=0.95][,every=6h][,replan=4m][,max-hold=4][,max-cost=1x]
      [,arrays=all|half|first][,best-effort][,take-offers][,forecaster=blend]
      This share of the jobs are submitted as varqd would submit them, to be running
      by the next deadline with this probability; there is one every six hours. They
      hold their processors before their work for max-hold time limits at most, and
      for max-cost times what was quoted with the promise, or none for no such
      ceiling. They are planned by varqd's blend, by all of it but its simulations,
      or, much faster, by plain QBETS as in 2007: blend, history, qbets. With arrays,
      bursts of like jobs of a user are job arrays, of which so many tasks are
      promised; this share is then one of the arrays, and single jobs reserve nothing.
      With take-offers, those that are refused take the later deadline that varqd
      offers, if it is a day later at most.`

// New returns the command simulate, with its subcommand compare.
func New(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate --trace=FILE|--model=downey [options]",
		Short: "Replay a log on a simulated cluster, with reservations or without",
		Long: `Simulate replays a log, or jobs that a model makes up, on a cluster that exists
only in memory, and tells how long its users wait and how busy it is. Neither
varqd nor Slurm takes part. 'varq-lab simulate compare' tells what reservations do.

--reservations says who reserves, and how; varq-lab-simulate(1) tells more:

` + kinds,
		Example: `  varq-lab simulate --trace=log.swf.gz
  varq-lab simulate --trace=log.swf.gz --policy=lwf --backfill=easy --reservations=hard=10%
  varq-lab simulate --trace=log.swf.gz --reservations=varq=10%,prob=.95,every=6h --plot=pictures
  varq-lab simulate --trace=log.swf.gz --reservations=varq=9%,forecaster=qbets --outage=6h,after=9-0
  varq-lab simulate --model=downey --procs=256 --jobs=1000 --load=.8 --schedule=made.swf --json`,
		Args: cli.NoArguments,
	}
	cmd.Flags().SortFlags = false
	f := addSimulation(cmd)
	kind := cmd.Flags().String("reservations", "none", "the `kind` of the reservations, and how many, as told above")
	schedule := cmd.Flags().String("schedule", "", "write when each job ran into `FILE`.swf or .csv, perhaps .gz")
	_ = cmd.MarkFlagFilename("schedule", "swf", "csv", "gz")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		s, err := f.simulation(cmd.Flags())
		if err != nil {
			return usage(err)
		}
		t, err := newTrial(*kind)
		if err != nil {
			return usage(err)
		}
		trials := []*trial{t}
		if err := s.check(trials); err != nil {
			return usage(err)
		}
		if f.plot != "" && t.share() > 0 {
			// The picture compares with the same jobs without reservations.
			trials = append(trials, &trial{Reservations: "none"})
			s.scenario.Aside = t.share()
		}
		if err := s.run(cmd.Context(), env, [][]*trial{trials}, *schedule); err != nil {
			return err
		}
		if f.plot != "" {
			slices.Reverse(trials)
			if err := draw(f.plot, s.setting, trials); err != nil {
				return fmt.Errorf("--plot: %w", err)
			}
		}
		if f.json {
			return cli.WriteJSON(env.Stdout, struct {
				setting
				*trial
			}{s.setting, t})
		}
		return showTrial(env.Stdout, s.setting, t)
	}
	cmd.AddCommand(newCompare(env))
	return cmd
}

// simulationFlags has the options of a simulation except --reservations.
type simulationFlags struct {
	*jobsFlags
	policy, backfill, outage, plot string
	json                           bool
}

// The values of --policy and --backfill. The first of each is the default.
var (
	policies  = []sched.Order{sched.FCFS(), sched.LWF()}
	backfills = []sched.Backfill{sched.Conservative, sched.EASY, sched.NoBackfill}
)

func addSimulation(cmd *cobra.Command) *simulationFlags {
	f := &simulationFlags{jobsFlags: addJobs(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", policies[0].Name, "`order` of the queue: fcfs, first come first served; lwf, least work first")
	flags.StringVar(&f.backfill, "backfill", backfills[0].String(), "the `rule` for jobs that overtake: conservative, they delay nobody; easy, not the first; none")
	flags.StringVar(&f.outage, "outage", "", "no job starts for a time, from the first submission on, again every so often: `TIME[,after=TIME][,every=TIME]`")
	flags.StringVar(&f.plot, "plot", "", "draw the load and the waits, with reservations and without, into the folder `DIR`")
	flags.BoolVar(&f.json, "json", false, "show the result in JSON: times and durations in seconds")
	_ = cmd.MarkFlagDirname("plot")
	for flag, names := range map[string][]string{"policy": cli.Names(policies, orderName), "backfill": cli.Names(backfills, sched.Backfill.String)} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cli.Complete(names...))
	}
	return f
}

func orderName(o sched.Order) string { return o.Name }
