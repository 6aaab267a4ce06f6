package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/jobrisk"
)

// adviseFlags has the options of advise.
type adviseFlags struct {
	cost, interval, left, end, deadline, mtbf, scr string
	since                                          float64
	nodes                                          int
	json                                           bool
	// whether the command line has the option
	given func(name string) bool
}

// mostNodes is the largest value of --nodes.
const mostNodes = 10_000_000

func newAdvise(env *Env, link *link) *cobra.Command {
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
	flags.StringVar(&f.scr, "scr", "", "print variables for the library SCR instead, of which this `one` is filled: seconds, interval or overhead")
	flags.Lookup("scr").NoOptDefVal = scrSeconds
	flags.BoolVar(&f.json, "json", false, "show the advice in JSON: durations in seconds")
	f.given = flags.Changed
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.given("scr") && !slices.Contains(scrSettings, f.scr) {
			return cli.Usage(cmd, fmt.Errorf("--scr: %.40q is none of %s", f.scr, strings.Join(scrSettings, ", ")))
		}
		request, err := env.adviseRequest(f)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		ends := request.Ends
		from, err := env.learn(cmd.Context(), link, f, request)
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
			return env.print(newSCR(request, f.scr), f.json)
		}
		advice := env.newAdvice(request, from)
		if request.Ends != ends {
			advice.Maintenance = from.known.Maintenance
		}
		if err := env.print(advice, f.json); err != nil || advice.Checkpoint {
			return err
		}
		return errNo
	}
	return cmd
}

// print prints an answer in words or in JSON.
func (e *Env) print(answer fmt.Stringer, inJSON bool) error {
	if inJSON {
		return cli.WriteJSON(e.Stdout, answer)
	}
	_, err := fmt.Fprint(e.Stdout, answer)
	return err
}

// adviseRequest makes the request of the options and of the job's environment, but for the hazard.
func (e *Env) adviseRequest(f *adviseFlags) (r *checkpoint.Request, err error) {
	r = &checkpoint.Request{}
	for _, option := range []struct {
		name, text string
		value      *float64
		optional   bool
	}{
		{"cost", f.cost, &r.Cost, false},
		{"interval", f.interval, &r.Interval, false},
		{"left", f.left, &r.Left, true},
	} {
		switch {
		case f.given(option.name):
			if *option.value, err = span("--"+option.name, option.text); err != nil {
				return nil, err
			}
		case !option.optional:
			return nil, fmt.Errorf("--%s is missing", option.name)
		}
	}
	r.Done = f.given("left") && r.Left == 0
	if r.Ends, err = e.end(f); err != nil {
		return nil, err
	}
	if f.given("deadline") {
		if !f.given("left") {
			return nil, errors.New("--deadline needs --left: how long the work still takes")
		}
		at, err := e.timeOf("--deadline", f.deadline)
		if err != nil {
			return nil, err
		}
		r.Deadline = float64(at - e.Now())
	}
	r.Since = f.since * r.Interval
	return r, nil
}

// check returns an error that names the option of what is out of bounds in a request.
func (f *adviseFlags) check(r *checkpoint.Request) error {
	err := r.Check()
	if errors.Is(err, checkpoint.ErrSince) {
		return fmt.Errorf("--since-last: %v is not between 0 and %.0f intervals", f.since, checkpoint.Longest/r.Interval)
	}
	for _, option := range []struct {
		of   error
		name string
	}{
		{checkpoint.ErrCost, "--cost"}, {checkpoint.ErrInterval, "--interval"}, {checkpoint.ErrLeft, "--left"},
		{checkpoint.ErrEnds, "--end"}, {checkpoint.ErrDeadline, "--deadline"}, {checkpoint.ErrHazard, "--mtbf"},
	} {
		if errors.Is(err, option.of) {
			return fmt.Errorf("%s: %w", option.name, err)
		}
	}
	return nil
}

// ground is what the risk of the job's nodes rests on.
type ground struct {
	source string // in words
	known  *jobrisk.Known
}

// learn completes a request by the risk that the job's nodes fail: as --mtbf says, or as varqd
// does.
func (e *Env) learn(ctx context.Context, link *link, f *adviseFlags, r *checkpoint.Request) (ground, error) {
	if f.given("mtbf") {
		return e.constant(f, r)
	}
	if f.given("nodes") {
		return ground{}, errors.New("--nodes needs --mtbf: without it varqd is asked about the nodes of the job")
	}
	job, nodes := e.Getenv("SLURM_JOB_ID"), e.Getenv("SLURM_JOB_NODELIST")
	if job == "" || nodes == "" {
		return ground{}, errors.New("--mtbf is missing: the mean time between failures of one node, 400-0 for 400 days; in a job varqd knows it")
	}
	finder := jobrisk.Finder{Job: job, Nodes: nodes, Dir: jobrisk.Dir(e.Getenv), Now: e.Now, Ask: func(ctx context.Context, nodes string) (api.Risk, error) {
		varqd, err := link.dial()
		if err != nil {
			return api.Risk{}, err
		}
		return varqd.Risk(ctx, nodes)
	}}
	known, err := finder.Find(ctx)
	if err != nil {
		return ground{}, notKnown{err}
	}
	known.Tell(r, e.Now())
	return ground{"varqd's forecast for " + nodes, &known}, nil
}

// notKnown is the error of a risk that nobody knows now. It hides what kind of error that is: an
// exit code of 1 would be an advice.
type notKnown struct{ error }

func (n notKnown) Error() string {
	return "the risk of the job's nodes is not known: " + oneLine(n.error) + "; --mtbf, the mean time between failures of one node, would do"
}

// oneLine writes an error on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// constant completes a request as --mtbf says.
func (e *Env) constant(f *adviseFlags, r *checkpoint.Request) (ground, error) {
	mtbf, err := span("--mtbf", f.mtbf)
	if err != nil {
		return ground{}, err
	}
	if mtbf == 0 {
		return ground{}, errors.New("--mtbf: 0 is too short")
	}
	nodes, name := f.nodes, "--nodes"
	if text := e.Getenv("SLURM_JOB_NUM_NODES"); !f.given("nodes") && text != "" {
		name = "SLURM_JOB_NUM_NODES"
		if nodes, err = strconv.Atoi(text); err != nil {
			return ground{}, fmt.Errorf("%s: %.40q is not a number of nodes; --nodes says how many there are", name, text)
		}
	} else if !f.given("nodes") {
		nodes = 1
	}
	if nodes < 1 || nodes > mostNodes {
		return ground{}, fmt.Errorf("%s: %d is not in 1..%d", name, nodes, mostNodes)
	}
	r.Hazard = checkpoint.Constant(float64(nodes) / mtbf)
	return ground{source: fmt.Sprintf("one every %s on a node (--mtbf), and there are %d", cli.Rounded(mtbf), nodes)}, nil
}

// end returns in how many seconds the job is stopped, or 0 if that is not known.
func (e *Env) end(f *adviseFlags) (float64, error) {
	if f.given("end") {
		at, err := e.timeOf("--end", f.end)
		if err == nil && at <= e.Now() {
			err = fmt.Errorf("--end: %s has passed", e.Moment(at))
		}
		return float64(at - e.Now()), err
	}
	text := e.Getenv("SLURM_JOB_END_TIME")
	if text == "" {
		return 0, nil
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 0 {
		return 0, fmt.Errorf("SLURM_JOB_END_TIME: %.40q is not a time in Unix seconds; --end says when the job is stopped", text)
	}
	if left := float64(at) - float64(e.Now()); left < checkpoint.Longest {
		return max(1, left), nil // it is being stopped
	}
	return 0, nil // there is no limit
}

// timeOf reads the value of an option that was given: unlike Time it refuses an empty one.
func (e *Env) timeOf(option, text string) (int64, error) {
	if text == "" {
		return 0, fmt.Errorf("%s: the time is missing", option)
	}
	return e.Time(option, text)
}

// span reads the value of an option that is a duration of at least 0, in seconds.
func span(option, text string) (float64, error) {
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
	// Next is the work until the next checkpoint that is planned if this one is skipped; null if
	// none is.
	Next   *float64 `json:"next"`
	Since  float64  `json:"since"`
	Cost   float64  `json:"cost"`
	MTBF   float64  `json:"mtbf"` // of all nodes together, in the long run
	Source string   `json:"source"`
	// Age is how long ago varqd looked at the nodes, negative if its clock or this one is wrong,
	// Day how many failures it expects of them within a day, and Trouble why it was not asked now.
	// Without varqd they are absent.
	Age     *int64   `json:"age,omitempty"`
	Day     *float64 `json:"day,omitempty"`
	Trouble string   `json:"trouble,omitempty"`
	// Maintenance is what stops the job, and Drain what began since the last checkpoint, if they
	// do.
	Maintenance *api.Maintenance `json:"maintenance,omitempty"`
	Drain       *api.Drain       `json:"drain,omitempty"`
	Young       float64          `json:"young"`
	Daly        float64          `json:"daly"`
	weighed     bool
	moment      func(int64) string
}

func (e *Env) newAdvice(r *checkpoint.Request, from ground) advice {
	answer := punctual(r)
	mtbf := 1 / r.Hazard.Rate()
	a := advice{
		Checkpoint: answer.Checkpoint, Reason: answer.Reason.String(), Saves: answer.Saves, Since: r.Since, Cost: r.Cost,
		MTBF: mtbf, Source: from.source, Young: checkpoint.Young(r.Cost, mtbf), Daly: checkpoint.Daly(r.Cost, mtbf),
		weighed: answer.Reason <= checkpoint.NotWorth && answer.Reason != checkpoint.TakenAway,
		moment:  e.Moment,
	}
	if known := from.known; known != nil {
		age, day := known.Age(e.Now()), checkpoint.Failures(r.Hazard, 86400)
		a.Age, a.Day = &age, &day
		if known.Trouble != nil {
			a.Trouble = oneLine(known.Trouble)
		}
		if r.Warned {
			a.Drain = known.Drain
		}
	}
	if !math.IsInf(answer.Next, 1) {
		a.Next = &answer.Next
	}
	return a
}

// How late an application may come with its next question: a share of the interval, and at least so
// many seconds.
const (
	lateShare = .01
	leastLate = 5
)

// punctual is checkpoint.Advise, but puts off to the next question no checkpoint that would be too
// late if that question came late.
func punctual(r *checkpoint.Request) checkpoint.Advice {
	answer := checkpoint.Advise(r)
	next := r.Interval + r.Cost
	if late := max(leastLate, lateShare*r.Interval); answer.Reason == checkpoint.NotYet && r.Ends >= next && r.Ends < next+late {
		last := *r
		last.Ends = math.Nextafter(next, 0)
		return checkpoint.Advise(&last)
	}
	return answer
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
	case a.weighed && a.Checkpoint && math.Round(a.Saves) == 0:
		l.Line("Saves", "less than a second on average, against the best plan without it")
	case a.weighed && a.Saves >= 0:
		l.Line("Saves", "%s on average, against the best plan without it", cli.Rounded(a.Saves))
	case a.weighed:
		l.Line("Loses", "%s on average, against the best plan without it", cli.Rounded(-a.Saves))
	}
	if !a.Checkpoint && a.Next != nil {
		l.Line("Next", "after %s more of work, as far as is known now", cli.Rounded(*a.Next))
	}
	if m := a.Maintenance; m != nil {
		l.Line("Stopped", "at %s, for the maintenance %s", a.moment(m.Start), m.Name)
	}
	if d := a.Drain; d != nil {
		l.Line("Drained", "%s, since %s: %s", d.Node, a.moment(d.Since), d.Reason)
	}
	if a.Age == nil {
		l.Line("Failures", "one every %s: %s", cli.Rounded(a.MTBF), a.Source)
	} else {
		l.Line("Failures", "%.4f expected within a day, and one every %s in the long run", *a.Day, cli.Rounded(a.MTBF))
		known, age := "by %s, %s old", *a.Age
		if age < 0 {
			known, age = "by %s, of a time that is %s ahead: this node's clock differs from varqd's", -age
		}
		l.Line("Known", known, a.Source, cli.Rounded(float64(age)))
	}
	if a.Trouble != "" {
		l.Line("But", "%s", a.Trouble)
	}
	l.Line("Young", "a checkpoint after every %s of work", cli.Rounded(a.Young))
	l.Line("Daly", "a checkpoint after every %s of work", cli.Rounded(a.Daly))
	return l.String()
}
