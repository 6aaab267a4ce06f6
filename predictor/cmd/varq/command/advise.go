package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// adviseFlags has the options of advise.
type adviseFlags struct {
	cost, interval, left, end, deadline, mtbf string
	since                                     float64
	nodes                                     int
	json                                      bool
}

// mostNodes is the largest value of --nodes.
const mostNodes = 10_000_000

func newAdvise(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advise --cost=TIME --interval=TIME --mtbf=TIME [options]",
		Short: "Tell a job whether to checkpoint now",
		Long: `Advise tells an application that could checkpoint now whether it should: by its exit
code, 0 to checkpoint and 1 to go on working, and in words. An application asks
after each interval of work:

  if varq advise --cost=12m --interval=1h --since-last=3 --mtbf=400-0; then
      ./checkpoint
  fi

It weighs what a failure of a node would cost against what the checkpoint costs, and
looks ahead: shortly before the work is done none is worth its cost, before the job
is stopped at its time limit one is made that is still complete, and none that would
make the job miss its deadline. Young's and Daly's intervals stand beside it.

Within a job its nodes and its end are known from SLURM_JOB_NUM_NODES and
SLURM_JOB_END_TIME. varqd is not asked.`,
		Example: `  varq advise --cost=12m --interval=1h --since-last=6 --mtbf=200-0 --nodes=64
  varq advise --cost=90s --interval=10m --since-last=12 --mtbf=30-0 --nodes=16 --left=20h --deadline=tomorrow
  varq advise --cost=12m --interval=1h --mtbf=200-0 --nodes=64 --end=now+70minutes --json`,
		Args: cli.NoArguments,
	}
	f := &adviseFlags{}
	flags := cmd.Flags()
	flags.StringVar(&f.cost, "cost", "", "how `long` a checkpoint stops the work")
	flags.StringVar(&f.interval, "interval", "", "how `long` the work goes on from one such question to the next")
	flags.Float64Var(&f.since, "since-last", 1, "`intervals` of work since the last checkpoint that was done")
	flags.StringVar(&f.left, "left", "", "how `long` the work takes from now on, without checkpoints (default: unknown)")
	flags.StringVar(&f.end, "end", "", "the `time` at which the job is stopped: its limit, or a maintenance (default $SLURM_JOB_END_TIME)")
	flags.StringVar(&f.deadline, "deadline", "", "the `time` by which the job should be done; with --left")
	flags.StringVar(&f.mtbf, "mtbf", "", "the mean `time` between failures of one node")
	flags.IntVar(&f.nodes, "nodes", 0, "the `number` of the job's nodes (default $SLURM_JOB_NUM_NODES, or 1)")
	flags.BoolVar(&f.json, "json", false, "show the advice in JSON: durations in seconds")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		request, source, err := env.adviseRequest(f)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		advice := newAdvice(request, source)
		if f.json {
			err = cli.WriteJSON(env.Stdout, advice)
		} else {
			_, err = fmt.Fprint(env.Stdout, advice)
		}
		if err == nil && !advice.Checkpoint {
			err = errNo
		}
		return err
	}
	return cmd
}

// adviseRequest makes the request of the options and of the job's environment. source says where the
// hazard is from.
func (e *Env) adviseRequest(f *adviseFlags) (r *checkpoint.Request, source string, err error) {
	r = &checkpoint.Request{}
	for _, option := range []struct {
		name, text string
		value      *float64
		optional   bool
	}{
		{"--cost", f.cost, &r.Cost, false},
		{"--interval", f.interval, &r.Interval, false},
		{"--left", f.left, &r.Left, true},
	} {
		if option.optional && option.text == "" {
			continue
		}
		if *option.value, err = span(option.name, option.text); err != nil {
			return nil, "", err
		}
	}
	if r.Ends, err = e.end(f.end); err != nil {
		return nil, "", err
	}
	if f.deadline != "" {
		if f.left == "" {
			return nil, "", errors.New("--deadline needs --left: how long the work still takes")
		}
		at, err := e.parseTime("--deadline", f.deadline)
		if err != nil {
			return nil, "", err
		}
		r.Deadline = float64(at - e.Now())
	}
	if r.Hazard, source, err = e.hazard(f); err != nil {
		return nil, "", err
	}
	r.Since = f.since * r.Interval
	for _, option := range []struct {
		of   error
		name string
	}{
		{checkpoint.ErrCost, "--cost"}, {checkpoint.ErrInterval, "--interval"}, {checkpoint.ErrSince, "--since-last"},
		{checkpoint.ErrLeft, "--left"}, {checkpoint.ErrEnds, "--end"}, {checkpoint.ErrDeadline, "--deadline"}, {checkpoint.ErrHazard, "--mtbf"},
	} {
		if err := r.Check(); errors.Is(err, option.of) {
			return nil, "", fmt.Errorf("%s: %w", option.name, err)
		}
	}
	return r, source, nil
}

// hazard returns the risk that the job's nodes fail, and says where it is from.
func (e *Env) hazard(f *adviseFlags) (h checkpoint.Hazard, source string, err error) {
	if f.mtbf == "" {
		return nil, "", errors.New("--mtbf is missing: the mean time between failures of one node, 400-0 for 400 days")
	}
	mtbf, err := span("--mtbf", f.mtbf)
	if err != nil {
		return nil, "", err
	}
	if mtbf == 0 {
		return nil, "", errors.New("--mtbf: 0 is too short")
	}
	nodes, name := f.nodes, "--nodes"
	if text := e.Getenv("SLURM_JOB_NUM_NODES"); nodes == 0 && text != "" {
		name = "SLURM_JOB_NUM_NODES"
		if nodes, err = strconv.Atoi(text); err != nil {
			return nil, "", fmt.Errorf("%s: %.40q is no number of nodes; --nodes says how many there are", name, text)
		}
	} else if nodes == 0 {
		nodes = 1
	}
	if nodes < 1 || nodes > mostNodes {
		return nil, "", fmt.Errorf("%s: %d is not in 1..%d", name, nodes, mostNodes)
	}
	return checkpoint.Constant(float64(nodes) / mtbf), fmt.Sprintf("one every %s on a node (--mtbf), and there are %d", cli.Rounded(mtbf), nodes), nil
}

// end returns in how many seconds the job is stopped, or 0 if that is not known.
func (e *Env) end(option string) (float64, error) {
	if option != "" {
		at, err := e.parseTime("--end", option)
		if err == nil && at <= e.Now() {
			err = fmt.Errorf("--end: %s has passed", e.moment(at))
		}
		return float64(at - e.Now()), err
	}
	text := e.Getenv("SLURM_JOB_END_TIME")
	if text == "" {
		return 0, nil
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 0 {
		return 0, fmt.Errorf("SLURM_JOB_END_TIME: %.40q is no time in Unix seconds; --end says when the job is stopped", text)
	}
	if left := float64(at) - float64(e.Now()); left < checkpoint.Longest {
		return max(1, left), nil // it is being stopped
	}
	return 0, nil // there is no limit
}

// span reads the value of an option that is a duration of at least 0, in seconds.
func span(option, text string) (float64, error) {
	if text == "" {
		return 0, fmt.Errorf("%s is missing", option)
	}
	seconds, err := slurmtime.ParseSpan(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", option, err)
	case seconds < 0 || float64(seconds) > checkpoint.Longest:
		return 0, fmt.Errorf("%s: %s is not between 0 and a century", option, text)
	}
	return float64(seconds), nil
}

// advice is the answer of advise. Durations are seconds.
type advice struct {
	Checkpoint bool   `json:"checkpoint"`
	Reason     string `json:"reason"`
	// Saves is the time that a checkpoint now saves on average, against the best plan without it.
	Saves float64 `json:"saves"`
	// Next is the work until the next checkpoint that is planned if this one is skipped; null if none is.
	Next    *float64 `json:"next"`
	Since   float64  `json:"since"`
	Cost    float64  `json:"cost"`
	MTBF    float64  `json:"mtbf"` // of all nodes together, in the long run
	Source  string   `json:"source"`
	Young   float64  `json:"young"`
	Daly    float64  `json:"daly"`
	weighed bool
}

func newAdvice(r *checkpoint.Request, source string) advice {
	answer := checkpoint.Advise(r)
	mtbf := 1 / r.Hazard.Rate()
	a := advice{
		Checkpoint: answer.Checkpoint, Reason: answer.Reason.String(), Saves: answer.Saves, Since: r.Since, Cost: r.Cost,
		MTBF: mtbf, Source: source, Young: checkpoint.Young(r.Cost, mtbf), Daly: checkpoint.Daly(r.Cost, mtbf),
		weighed: answer.Reason <= checkpoint.NotWorth,
	}
	if !math.IsInf(answer.Next, 1) {
		a.Next = &answer.Next
	}
	return a
}

// String returns the advice in words.
func (a advice) String() string {
	l := cli.Listing{Width: 12}
	verb := "Skip"
	if a.Checkpoint {
		verb = "Checkpoint"
	}
	fmt.Fprintf(&l, "%s: %s.\n", verb, a.Reason)
	l.Line("At risk", "%s of work since the last checkpoint", cli.Rounded(a.Since))
	l.Line("Cost", "%s", cli.Rounded(a.Cost))
	switch {
	case a.weighed && a.Saves >= 0:
		l.Line("Saves", "%s on average, against the best plan without it", cli.Rounded(a.Saves))
	case a.weighed:
		l.Line("Loses", "%s on average, against the best plan without it", cli.Rounded(-a.Saves))
	}
	if !a.Checkpoint && a.Next != nil {
		l.Line("Next", "after %s more of work, as far as is known now", cli.Rounded(*a.Next))
	}
	l.Line("Failures", "one every %s: %s", cli.Rounded(a.MTBF), a.Source)
	l.Line("Young", "a checkpoint after every %s of work", cli.Rounded(a.Young))
	l.Line("Daly", "a checkpoint after every %s of work", cli.Rounded(a.Daly))
	return l.String()
}
