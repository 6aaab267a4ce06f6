package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// simulation is what the trials of a command share.
type simulation struct {
	setting
	jobs     jobs
	cut      bool              // the jobs are the first of a log that may have more
	scenario scenario.Scenario // without reservations
}

// setting describes a simulation in the output.
type setting struct {
	Source   string `json:"source"` // of the jobs
	Procs    int32  `json:"procs"`
	Policy   string `json:"policy"`
	Backfill string `json:"backfill"`
	Outage   string `json:"outage,omitempty"`
	Seed     uint64 `json:"seed"`
	Seeds    int    `json:"seeds,omitempty"` // of a comparison: so many from Seed on
	// Seconds is the duration of the command. JobsPerSecond is the number of jobs of
	// all trials, divided by Seconds.
	Seconds       float64 `json:"seconds"`
	JobsPerSecond float64 `json:"jobs_per_second"`
}

// trial is a kind of reservations and its result.
type trial struct {
	Reservations string `json:"reservations"`
	kind         scenario.Reservations
	*scenario.Result

	Plain  *plain  `json:"plain,omitempty"` // what else would have become of those who asked
	starts starts  // nil if nobody needs them
	asked  []asked // those who asked for a promise, while starts are needed
}

// newTrial reads --reservations.
func newTrial(text string) (*trial, error) {
	kind, err := scenario.ParseReservations(text)
	if err != nil {
		return nil, fmt.Errorf("--reservations: %w", err)
	}
	return &trial{Reservations: text, kind: kind}, nil
}

// share returns the share of the jobs that reserve.
func (t *trial) share() float64 {
	switch {
	case t.kind.Hard != nil:
		return t.kind.Hard.Share
	case t.kind.VARQ != nil:
		return t.kind.VARQ.Share
	default:
		return 0
	}
}

// simulation checks the flags and returns the simulation that they describe.
func (f *simulationFlags) simulation(flags *pflag.FlagSet) (*simulation, error) {
	jobs, err := f.source(flags)
	if err != nil {
		return nil, err
	}
	order, err := cli.Choose("policy", f.policy, policies, orderName)
	if err != nil {
		return nil, err
	}
	backfill, err := cli.Choose("backfill", f.backfill, backfills, sched.Backfill.String)
	if err != nil {
		return nil, err
	}
	outage, err := scenario.ParseOutage(f.outage)
	if err != nil {
		return nil, fmt.Errorf("--outage: %w", err)
	}
	return &simulation{
		setting: setting{Source: jobs.name, Policy: f.policy, Backfill: f.backfill, Outage: outage.String(), Seed: f.seed},
		jobs:    jobs,
		scenario: scenario.Scenario{
			Order: order, Backfill: backfill, Outage: outage, Seed: f.seed,
			Background: cli.Background,
		},
	}, nil
}

// check refuses trials that cannot be simulated.
func (s *simulation) check(trials []*trial) error {
	for _, t := range trials {
		if t.kind.Hard != nil && s.scenario.Outage.Lasts > 0 {
			return errors.New("--outage: hard reservations start whatever happens: they know no outages")
		}
	}
	return nil
}

// run runs trials on the same jobs, and after these those of the next round, with the next seed. So
// no more than one round is in memory. It shows progress on standard error, and at the end the
// warnings about the jobs. If schedule is not empty, run writes the schedule of the first trial to
// that file.
func (s *simulation) run(ctx context.Context, env *cli.Env, rounds [][]*trial, schedule string) error {
	meter := progress.New(env.Stderr, env.Elapsed)
	defer meter.Close()
	total := newTotals(meter, rounds)
	for i, trials := range rounds {
		if err := s.runRound(ctx, env, s.Seed+uint64(i), trials, schedule, total); err != nil {
			return err
		}
		schedule = ""
	}
	jobs := 0
	for _, trials := range rounds {
		for _, t := range trials {
			jobs += t.Jobs
		}
	}
	s.Seconds = env.Elapsed().Seconds()
	s.JobsPerSecond = float64(jobs) / s.Seconds
	return nil
}

// runRound runs trials with a seed, as run does. It says the warnings if the seed is the first.
func (s *simulation) runRound(ctx context.Context, env *cli.Env, seed uint64, trials []*trial, schedule string, total *totals) error {
	logs := make([]jobLog, len(trials))
	for i := range logs {
		log, err := s.jobs.open(seed)
		if err != nil {
			return err
		}
		defer log.Close()
		logs[i] = log
	}
	s.Procs = logs[0].Procs()
	s.scenario.Procs, s.scenario.Seed = s.Procs, seed
	var file *trace.Schedule
	if schedule != "" {
		header := logs[0].Header()
		header.MaxProcs = int64(s.Procs)
		var err error
		if file, err = trace.CreateSchedule(schedule, header); err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
	}
	err := s.runAll(ctx, trials, logs, file, total)
	if seed == s.Seed {
		total.meter.Close() // no bar stands beside the warnings
		for _, w := range logs[0].Warnings() {
			fmt.Fprintf(env.Stderr, "varq-lab: %s: %v\n", s.Source, w)
		}
	}
	if file != nil {
		err = closeSchedule(file, err)
	}
	if first, ok := logs[0].(*head); ok {
		s.cut = s.jobs.log && first.cut
	}
	if trials[0].starts != nil && err == nil {
		compareWithPlain(trials)
	}
	return err
}

// closeSchedule writes the schedule if the run ended without an error.
func closeSchedule(file *trace.Schedule, err error) error {
	if err != nil {
		return errors.Join(err, file.Discard())
	}
	return file.Close()
}

// runAll runs each trial on its log, as many at a time as Go has processors. The first
// error ends them all.
func (s *simulation) runAll(parent context.Context, trials []*trial, logs []jobLog, schedule *trace.Schedule, total *totals) error {
	workers, ctx := errgroup.WithContext(parent)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range trials {
		workers.Go(func() error {
			cluster := s.scenario
			cluster.Reservations = t.kind
			cluster.Request = trace.Requests(logs[i].Header())
			callbacks := t.callbacks()
			if i == 0 && schedule != nil {
				callbacks.Ended = schedule.Add
			}
			result, err := cluster.Run(watched(ctx, logs[i], func(d done) { total.show(t, d) }), callbacks)
			if err == nil && result.Jobs == 0 {
				err = fmt.Errorf("%s: there is no job to simulate", s.Source)
			}
			t.Result = result
			if err == nil {
				total.show(t, done{1, result.Jobs})
			}
			return err
		})
	}
	err := workers.Wait()
	if parent.Err() != nil {
		return cli.ErrInterrupted
	}
	return err
}

// glance is the number of jobs after which progress is shown.
const glance = 32

// watched yields the jobs of the log, and shows progress. When ctx ends, it yields the cause
// as an error, and stops.
func watched(ctx context.Context, log jobLog, show func(done)) iter.Seq2[sched.Job, error] {
	return func(yield func(sched.Job, error) bool) {
		n := 0
		for job, err := range log.Jobs() {
			if n%glance == 0 {
				if ctx.Err() != nil {
					yield(sched.Job{}, context.Cause(ctx))
					return
				}
				show(done{log.Progress(), n})
			}
			n++
			if !yield(job, err) {
				return
			}
		}
	}
}
