package study

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// VARQ is the study of Table 4 of "VARQ: Implementing Probabilistic Advanced
// Reservations for Batch-scheduled Parallel Machines" (Nurmi, Wolski and Brevik 2007):
// how many promises are made and kept if a tenth, half or nearly all of the jobs ask for
// one.
type VARQ struct{}

const (
	varqLog        = "SDSC-DS-2004"
	varqNormal     = 3 // the queue "normal", by the log's header
	varqProcs      = 8 // processors of a node
	varqEvery      = 6 * 3600
	varqSeeds      = 5
	varqQuickSeeds = 2
	varqQuickJobs  = 5000
)

// varqMachine is a cluster on which the log is replayed.
type varqMachine struct {
	nodes int32
	title string
}

// varqMachines has the paper's cluster, and the cluster of the log.
var varqMachines = []varqMachine{
	{272, "Table 4: on 272 nodes"},
	{171, "The same on the 171 nodes that the queue had when the log was recorded"},
}

// varqCell is a cell of Table 4.
type varqCell struct {
	share             int     // per cent of the jobs that ask for a promise
	prob              int     // per cent, asked for
	predicted, actual float64 // mean forecast, and share of promises kept
	count             float64 // number of promises
	note              string
}

var varqCells = []varqCell{
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

func (c varqCell) name(m varqMachine) string {
	return fmt.Sprintf("%d nodes %d%% prob=%d%%", m.nodes, c.share, c.prob)
}

func (VARQ) seeds(o Options) int { return o.Repetitions(varqSeeds, varqQuickSeeds) }

// Cases implements Study.
func (v VARQ) Cases(o Options) []Case {
	var cases []Case
	for seed := range v.seeds(o) {
		for _, m := range varqMachines {
			for _, cell := range varqCells {
				cases = append(cases, Case{cell.name(m), uint64(seed) + 1})
			}
		}
	}
	return cases
}

// Run implements Study.
func (VARQ) Run(o Options, c Case) (Values, error) {
	for _, m := range varqMachines {
		for _, cell := range varqCells {
			if cell.name(m) == c.Name {
				return cell.run(o, m, c.Seed)
			}
		}
	}
	return nil, fmt.Errorf("varq has no case %q", c.Name)
}

func (c varqCell) run(o Options, m varqMachine, seed uint64) (Values, error) {
	jobs, err := ReadJobs(o.Traces, varqLog, o.AtMost(varqQuickJobs), func(j *sched.Job) bool {
		j.Procs = (j.Procs + varqProcs - 1) / varqProcs // whole nodes
		return j.Queue == varqNormal && j.Procs <= m.nodes
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
	sc.Reservations.VARQ = &scenario.VARQ{Share: share, Prob: float64(c.prob) / 100, Every: varqEvery}
	r, err := sc.Run(jobs, scenario.Callbacks{})
	if err != nil {
		return nil, err
	}
	values := ValuesOf(r)
	values["wait without"], values["utilisation without"] = none.Others.Mean, none.Utilisation
	return values, nil
}

// Report implements Study.
func (v VARQ) Report(o Options, outcomes []Outcome) Report {
	r := ResultsOf(outcomes, v.seeds(o))
	report := Report{
		Name:        "varq",
		Title:       "Nurmi, Wolski and Brevik, VARQ: Implementing Probabilistic Advanced Reservations for Batch-scheduled Parallel Machines (2007)",
		Differences: varqDifferences(o),
	}
	for _, m := range varqMachines {
		var lines []Line
		for _, cell := range varqCells {
			lines = append(lines, cell.lines(m)...)
		}
		report.Tables = append(report.Tables, r.Table(m.title, lines))
		report.Figures = append(report.Figures, varqFigure(m, r))
	}
	return report
}

// lines returns the rows that compare a cell of the paper with ours.
func (c varqCell) lines(m varqMachine) []Line {
	name := fmt.Sprintf("%d %% at .%d: ", c.share, c.prob)
	of := func(value string) Measure { return Of(c.name(m), value) }
	return []Line{
		{name + "predicted", "", Paper(c.predicted), of("prob").ShareOf(1), c.note},
		{name + "kept", "", Paper(c.actual), of("kept").ShareOf(1), ""},
		{name + "promises", "", Paper(c.count), of("promised"), "of a log ten times as long"},
		{name + "granted", "% of those who asked", nil, of("granted").Times(100).ShareOf(100), ""},
		{name + "cost", "of the work's own", nil, of("cost"), ""},
		{name + "the others' wait", "min more", nil, of("wait").Minus(of("wait without")).Per(60), ""},
		{name + "utilisation", "percentage points more", nil, of("utilisation").Minus(of("utilisation without")).Times(100), ""},
	}
}

// varqFigure shows the probabilities asked for, forecast and kept in each cell.
func varqFigure(m varqMachine, r Results) Figure {
	f := Figure{
		Name: fmt.Sprintf("kept-%d", m.nodes), Title: fmt.Sprintf("Promised and kept on %d nodes", m.nodes),
		X: "jobs that ask, and the probability they ask for", Y: "share",
		Series: []Series{{Name: "asked for"}, {Name: "predicted"}, {Name: "kept"}},
	}
	for _, cell := range varqCells {
		f.Labels = append(f.Labels, fmt.Sprintf("%d %% at .%d", cell.share, cell.prob))
		found := r.Means(Of(cell.name(m), "prob"), Of(cell.name(m), "kept"))
		for i, y := range []float64{float64(cell.prob) / 100, found[0], found[1]} {
			f.Series[i].Y = append(f.Series[i].Y, y)
		}
	}
	return f
}

func varqDifferences(o Options) []string {
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
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs.", varqQuickJobs))
	}
	return d
}
