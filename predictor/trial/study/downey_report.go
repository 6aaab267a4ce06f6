package study

import (
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/forecast/downey"
)

// downeyReport compares the outcomes with the paper.
type downeyReport struct {
	results
	seeds int
}

// row compares a number of the paper, NaN if it has none, with what a case
// measured. Where that number, which comes from a single run, is outside the
// interval of our mean, the note says how far our single runs are apart.
func (r downeyReport) row(name, unit string, number float64, of, measure, note string) Row {
	least, most := math.Inf(1), math.Inf(-1)
	row := Row{Name: name, Unit: unit, Note: note}
	row.Ours = overSeeds(r.seeds, func(seed uint64) float64 {
		x := r.value(of, seed, measure)
		if !math.IsNaN(x) {
			least, most = min(least, x), max(most, x)
		}
		return x
	})
	if math.IsNaN(number) {
		return row
	}
	row.Paper = paper(number)
	if row.Ours.N > 1 && (number < row.Ours.Low || number > row.Ours.High) {
		runs := fmt.Sprintf("single runs: %.4g to %.4g", least, most)
		if note != "" {
			runs = note + "; " + runs
		}
		row.Note = runs
	}
	return row
}

// Report implements Study.
func (d Downey) Report(o Options, outcomes []Outcome) Report {
	r := downeyReport{resultsOf(outcomes), d.seeds(o)}
	differences := downeyDifferences
	if o.Quick {
		differences = append([]string{fmt.Sprintf("Runs are of %d days, not of %d, and so scatter more.", downeyQuickDays, downeyDays)}, differences...)
	}
	return Report{
		Name:        "downey",
		Title:       "Downey, Using Queue Time Predictions for Processor Allocation (1997)",
		Tables:      []Table{r.workload(), r.alone(), r.predictions(), r.all(), r.readings()},
		Differences: differences,
		Figures:     r.figures(),
	}
}

func (r downeyReport) workload() Table {
	return Table{Title: "Sections 5.1 and 5.2: the jobs under AVG, and what OPT could gain", Rows: []Row{
		r.row("median duration", "min", 3, "alone AVG", "duration", ""),
		r.row("mean duration", "h", 1.3, "alone AVG", "durations", ""),
		r.row("spoiled: got all the processors of use to them", "% of jobs", 63, "alone AVG", "spoiled", ""),
		r.row("saved by the median rebel, OPT", "min", 15, "alone OPT", "median", ""),
		r.row("saved by a rebel in the mean, OPT", "h", 1.6, "alone OPT", "mean", ""),
		r.row("work of a rebel over that of a docile job, OPT", "", 8, "alone OPT", "heavier", ""),
	}}
}

// What explains the differences.
const (
	noteLifetimes = "depends on the lifetimes taken for prediction, see the readings"
	noteTimid     = "the correction is the paper's, yet more of our jobs rebel, those with little to gain: see below"
	noteConcede   = "those who lose do so by half a minute on average"
)

// downeyStrategy is a row of the paper's Tables 1 and 2.
type downeyStrategy struct {
	rule               downey.Rule
	rebels             float64 // of the 30421 jobs
	saved              float64 // minutes
	losers             float64 // per cent of the rebels
	busier, slower     float64 // per cent
	noteAlone, noteAll string
	noteLosers         string
}

var downeyStrategies = []downeyStrategy{
	{rule: downey.OPT, rebels: 4244, saved: 13.8, losers: 0, busier: .1, slower: 9},
	{rule: downey.PRED, rebels: 2388, saved: 12.8, losers: 8, busier: 2.4, slower: -3, noteAlone: noteLifetimes, noteAll: noteLifetimes},
	{rule: downey.BIAS, rebels: 3089, saved: 13.5, losers: 8, busier: 1, slower: 5, noteAlone: noteTimid, noteLosers: noteTimid, noteAll: noteTimid},
	{rule: downey.HEUR, rebels: 11158, saved: 12.8, losers: 68, busier: -5, slower: 37, noteLosers: noteConcede},
}

func (r downeyReport) alone() Table {
	const jobs = 30421
	t := Table{Title: "Table 1: each job alone follows a strategy, all others AVG"}
	for _, s := range downeyStrategies {
		of := "alone " + string(s.rule)
		t.Rows = append(t.Rows, r.row(string(s.rule)+": rebels", "% of jobs", 100*s.rebels/jobs, of, "rebels", s.noteAlone))
	}
	for _, s := range downeyStrategies {
		t.Rows = append(t.Rows, r.row(string(s.rule)+": saved by a job", "min", s.saved, "alone "+string(s.rule), "saved", ""))
	}
	for _, s := range downeyStrategies {
		t.Rows = append(t.Rows, r.row(string(s.rule)+": rebels who lose", "%", s.losers, "alone "+string(s.rule), "losers", s.noteLosers))
	}
	return t
}

func (r downeyReport) predictions() Table {
	return Table{Title: "Sections 5.3 and 5.4: predictions, and the rebels who rely on them", Rows: []Row{
		r.row("PRED: saved by the median rebel", "min", 55, "alone PRED", "median", noteLifetimes),
		r.row("PRED: saved by a rebel in the mean", "h", 2.7, "alone PRED", "mean", noteLifetimes),
		r.row("PRED: lost by a rebel who loses", "min", 3.7, "alone PRED", "lost", ""),
		r.row("PRED: correlation of predicted and actual waits", "", .48, "alone PRED", "correlation", ""),
		r.row("PRED: slope of their line", "", .6, "alone PRED", "slope", ""),
		r.row("PRED: intercept", "ln s", 1.7, "alone PRED", "intercept", noteLifetimes),
		r.row("BIAS: correlation", "", .59, "alone BIAS", "correlation", ""),
		r.row("BIAS: slope", "", 1.01, "alone BIAS", "slope", ""),
		r.row("BIAS: intercept", "ln s", -.01, "alone BIAS", "intercept", ""),
	}}
}

func (r downeyReport) all() Table {
	t := Table{Title: "Table 2 and section 6.1: all jobs follow a strategy", Rows: []Row{
		r.row("AVG: turnaround", "s", 4795, "all AVG", "turnaround", ""),
	}}
	for _, s := range downeyStrategies {
		t.Rows = append(t.Rows, r.row(string(s.rule)+": turnaround", "% more than AVG", s.slower, "all "+string(s.rule), "slower", s.noteAll))
	}
	const avg = 4795
	t.Rows = append(t.Rows,
		r.row("BIAS, locked in: turnaround", "% more than AVG", more(5011, avg), "all BIAS, locked in", "slower", noteTimid),
		r.row("BIAS, locked in, averse to risk: turnaround", "% more than AVG", more(4783, avg), "all BIAS, locked in, averse to risk", "slower", noteTimid))
	for _, s := range downeyStrategies {
		t.Rows = append(t.Rows, r.row(string(s.rule)+": utilisation", "% more than AVG", s.busier, "all "+string(s.rule), "busier", ""))
	}
	return t
}

// readings measures what the paper's words could also mean.
func (r downeyReport) readings() Table {
	const fitted, whole = ", predicting with AVG's run times", ", A rounded down"
	return Table{Title: "Other readings of the paper", Rows: []Row{
		r.row("PRED: rebels"+fitted, "% of jobs", 7.85, "alone PRED, fitted lifetimes", "rebels", "the paper's predictions are longer"),
		r.row("PRED: saved by the median rebel"+fitted, "min", 55, "alone PRED, fitted lifetimes", "median", ""),
		r.row("PRED: intercept"+fitted, "ln s", 1.7, "alone PRED, fitted lifetimes", "intercept", ""),
		r.row("PRED: turnaround"+fitted, "% more than AVG", -3, "all PRED, fitted lifetimes", "slower", ""),
		r.row("mean duration"+whole, "h", 1.3, "alone OPT, A rounded down", "durations", "the paper rounds up"),
		r.row("spoiled"+whole, "% of jobs", 63, "alone OPT, A rounded down", "spoiled", ""),
		r.row("OPT: rebels"+whole, "% of jobs", 13.95, "alone OPT, A rounded down", "rebels", ""),
		r.row("OPT: turnaround"+whole, "% more than AVG", 9, "all OPT, A rounded down", "slower", ""),
	}}
}

func (r downeyReport) figures() []Figure {
	saved := Figure{Name: "saved", Title: "Each job alone follows a strategy", X: "strategy", Y: "saved by a job, min"}
	slower := Figure{Name: "turnaround", Title: "All jobs follow a strategy", X: "strategy", Y: "turnaround, % more than AVG"}
	saved.Series = []Series{{Name: "paper"}, {Name: "ours"}}
	slower.Series = []Series{{Name: "paper"}, {Name: "ours"}}
	add := func(f *Figure, row Row) {
		f.Series[0].Y = append(f.Series[0].Y, *row.Paper)
		f.Series[1].Y = append(f.Series[1].Y, row.Ours.Mean)
	}
	for _, s := range downeyStrategies {
		name := string(s.rule)
		saved.Labels = append(saved.Labels, name)
		slower.Labels = append(slower.Labels, name)
		add(&saved, r.row("", "", s.saved, "alone "+name, "saved", ""))
		add(&slower, r.row("", "", s.slower, "all "+name, "slower", ""))
	}
	return []Figure{saved, slower}
}

var downeyDifferences = []string{
	"The paper's numbers come from one run of 120 days and 30,421 jobs, ours from several such runs with other random numbers; the interval is that of our mean, and a single run of ours is seldom within it either.",
	"n is at most A rounded up. Rounded down, as \"no more than A processors\" could be read, nearly every number is further from the paper's.",
	"The machine is empty when a day begins: a night lasts until all jobs have run. With nights of twelve hours and jobs that run on into the morning, fewer jobs are spoiled and OPT saves more than in the paper.",
	"A job chooses as soon as it is at the head of the queue and one processor is free. It starts as soon as the processors it holds out for are free, and then takes all that are, up to A; locked in, it takes only those it held out for, or fewer.",
	"Jobs ask again when another job arrives and when the predicted wait has passed, as in the paper, but not more often than once a second for the latter.",
	"PRED and BIAS take run times to have the distribution of L, as equation 5 is written. The paper does not say which parameters it used; those of the run times that AVG yields predict shorter waits.",
	"Equation 6 has its products exchanged, and t in equation 5 is the whole lifetime: q seconds from now it is the age plus q. Jobs older than the longest lifetime, which fitted lifetimes allow, are not counted on.",
	"Every prediction on which a rebel relies, at each of its choices, is recorded with the time at which the processors would have been free, whether or not the job still waited for them.",
	"BIAS learns while it runs, from predictions that have come out, and corrects from the 30th on. The paper fits the line to a whole run of PRED and corrects a second run by it.",
	"Utilisation is average efficiency from the beginning of a day until its last job starts, or the twelve hours end if that is later, compared with AVG's day by day; the paper does not say where its days end.",
	"PRED and BIAS have more rebels than in the paper, and so those behind them wait longer. The surplus is of jobs with little to gain: they save hardly anything, and more of them lose. It is there whichever lifetimes are used, for BIAS corrects them, and whether arrivals prompt or not. If jobs were to rebel only for a predicted gain of a tenth of their run time, the rebels and losers of both would be about the paper's; it mentions no such threshold before section 6.1, and we have none.",
	"The paper has 68 % of HEUR's rebels lose, and ours are more; what they lose is half a minute on average, so that it takes little to tip them.",
}
