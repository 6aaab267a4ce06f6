// Package varq has two studies of "VARQ: Implementing Probabilistic Advanced Reservations for
// Batch-scheduled Parallel Machines" (Nurmi, Wolski and Brevik 2007). Study repeats its Table 4,
// and Forecasters compares its forecasts with varqd's.
package varq

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/scenario"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Study is the study "varq", of Table 4: how many promises are made and kept if a tenth, half or
// nearly all of the jobs ask for one.
type Study struct{}

const (
	jobLog        = "SDSC-DS-2004"
	normalQueue   = 3 // the queue "normal", by the log's header
	nodeProcs     = 8 // processors of a node
	deadlineEvery = 6 * 3600
	usualSeeds    = 5
	quickSeeds    = 2
	quickJobs     = 5000
)

// machine is a cluster on which the log is replayed.
type machine struct {
	nodes int32
	title string
}

// machines has the paper's cluster, and the cluster of the log.
var machines = []machine{
	{272, "Table 4: on 272 nodes"},
	{171, "The same on the 171 nodes that the queue had when the log was recorded"},
}

// cell is a cell of Table 4.
type cell struct {
	share             int     // per cent of the jobs that ask for a promise
	prob              int     // per cent, asked for
	predicted, actual float64 // mean forecast, and share of promises kept
	count             float64 // number of promises
	note              string
}

var cells = []cell{
	{share: 10, prob: 50, predicted: .54, actual: .66, count: 359},
	{share: 10, prob: 75, predicted: .77, actual: .72, count: 60},
	{share: 10, prob: 95, predicted: .97, actual: .91, count: 11},
	{share: 50, prob: 50, predicted: .55, actual: .60, count: 1869},
	{share: 50, prob: 75, predicted: .77, actual: .68, count: 1108},
	{share: 50, prob: 95, predicted: .96, actual: .84, count: 194},
	{share: 95, prob: 50, predicted: .68, actual: .64, count: 1960},
	{share: 95, prob: 75, predicted: .81, actual: .43, count: 939, note: "the paper prints .43 predicted and .81 kept: exchanged, as its text tells"},
	{share: 95, prob: 95, predicted: .98, actual: .97, count: 48},
}

func (c cell) name(m machine) string {
	return fmt.Sprintf("%d nodes %d%% prob=%d%%", m.nodes, c.share, c.prob)
}

func (Study) seeds(o study.Options) int { return o.Repetitions(usualSeeds, quickSeeds) }

// Cases implements study.Study.
func (v Study) Cases(o study.Options) []study.Case {
	var cases []study.Case
	for seed := range v.seeds(o) {
		for _, m := range machines {
			for _, cell := range cells {
				cases = append(cases, study.Case{Name: cell.name(m), Seed: uint64(seed) + 1})
			}
		}
	}
	return cases
}

// Run implements study.Study.
func (Study) Run(o study.Options, c study.Case) (study.Values, error) {
	for _, m := range machines {
		for _, cell := range cells {
			if cell.name(m) == c.Name {
				return cell.run(o, m, c.Seed)
			}
		}
	}
	return nil, fmt.Errorf("varq has no case %q", c.Name)
}

func (c cell) run(o study.Options, m machine, seed uint64) (study.Values, error) {
	jobs, err := study.ReadJobs(o.Traces, jobLog, o.AtMost(quickJobs), func(j *sched.Job) bool {
		j.Procs = (j.Procs + nodeProcs - 1) / nodeProcs // whole nodes
		return j.Queue == normalQueue && j.Procs <= m.nodes
	})
	if err != nil {
		return nil, err
	}
	share := float64(c.share) / 100
	sc := scenario.Scenario{Procs: m.nodes, Order: sched.FCFS(), Backfill: sched.EASY, Aside: share, Seed: seed}
	none, err := sc.Run(jobs, scenario.Callbacks{})
	if err != nil {
		return nil, err
	}
	sc.Reservations.VARQ = &scenario.VARQ{Share: share, Prob: float64(c.prob) / 100, Every: deadlineEvery}
	r, err := sc.Run(jobs, scenario.Callbacks{})
	if err != nil {
		return nil, err
	}
	values := study.ValuesOf(r)
	values["wait without"], values["utilisation without"] = none.Others.Mean, none.Utilisation
	return values, nil
}

// Report implements study.Study.
func (v Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, v.seeds(o))
	report := study.Report{
		Name:        "varq",
		Title:       "Nurmi, Wolski and Brevik, VARQ: Implementing Probabilistic Advanced Reservations for Batch-scheduled Parallel Machines (2007)",
		Differences: differences(o),
	}
	for _, m := range machines {
		var lines []study.Line
		for _, cell := range cells {
			lines = append(lines, cell.lines(m)...)
		}
		report.Tables = append(report.Tables, r.Table(m.title, lines))
		report.Figures = append(report.Figures, figure(m, r))
	}
	return report
}

// lines returns the rows that compare a cell of the paper with ours.
func (c cell) lines(m machine) []study.Line {
	name := fmt.Sprintf("%d %% at .%d: ", c.share, c.prob)
	of := func(value string) study.Measure { return study.Of(c.name(m), value) }
	return []study.Line{
		{Name: name + "predicted", Paper: study.Paper(c.predicted), Ours: of("prob").ShareOf(1), Note: c.note},
		{Name: name + "kept", Paper: study.Paper(c.actual), Ours: of("kept").ShareOf(1)},
		{Name: name + "promises", Paper: study.Paper(c.count), Ours: of("promised"), Note: "of a log ten times as long"},
		{Name: name + "granted", Unit: "% of those who asked", Ours: of("granted").Times(100).ShareOf(100)},
		{Name: name + "cost", Unit: "of the work's own", Ours: of("cost")},
		{Name: name + "the others' wait", Unit: "min more", Ours: of("wait").Minus(of("wait without")).Per(60)},
		{Name: name + "utilisation", Unit: "percentage points more", Ours: of("utilisation").Minus(of("utilisation without")).Times(100)},
	}
}

// figure shows the probabilities asked for, forecast and kept in each cell.
func figure(m machine, r study.Results) study.Figure {
	f := study.Figure{
		Name: fmt.Sprintf("kept-%d", m.nodes), Title: fmt.Sprintf("Promised and kept on %d nodes", m.nodes),
		X: "jobs that ask, and the probability they ask for", Y: "share",
		Series: []study.Series{{Name: "asked for"}, {Name: "predicted"}, {Name: "kept"}},
	}
	for _, cell := range cells {
		f.Labels = append(f.Labels, fmt.Sprintf("%d %% at .%d", cell.share, cell.prob))
		found := r.Means(study.Of(cell.name(m), "prob"), study.Of(cell.name(m), "kept"))
		for i, y := range []float64{float64(cell.prob) / 100, found[0], found[1]} {
			f.Series[i].Y = append(f.Series[i].Y, y)
		}
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"The paper does not say which part of DataStar's log it took; its counts are those of about 3,700 jobs. These are the 48,089 jobs of the queue \"normal\" that ran from March 2004 to April 2005.",
		"The log is older than the machine of 272 nodes: its queue had 171. On 272 these jobs make a load of 38 %, and few of them wait; on 171 it is 60 %. The paper tells neither load nor waits.",
		"The paper's scheduler is Maui in its default policy; this is first come, first served with EASY backfilling.",
		"A job asks for the next deadline after its submission, of which there is one every six hours; if it is refused it joins the queue. The paper does not say what became of those.",
		"Predictions learn from the waits of all jobs from the first day on; nothing is left out to warm up.",
		"Nodes are the processors divided by eight, rounded up.",
		"A plan is not made anew until its job is submitted, as varqd does and the paper says VARQ may.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs.", quickJobs))
	}
	return d
}
