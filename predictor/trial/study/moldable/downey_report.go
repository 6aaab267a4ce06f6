package moldable

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Notes that explain differences.
const (
	noteLifetimes = "depends on the lifetimes taken for prediction, see the readings"
	noteTimid     = "the correction is the paper's, yet more of our jobs rebel, those with little to gain: see below"
	noteConcede   = "those who lose do so by half a minute on average"
)

// The jobs of the paper's run, and their mean turnaround under AVG in seconds.
const (
	downeyJobs       = 30421
	downeyTurnaround = 4795
)

// Report implements study.Study.
func (d Downey) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, d.seeds(o))
	table := func(title string, lines []study.Line) study.Table { return r.Table(title, r.SingleRuns(lines)) }
	const fitted, whole = ", predicting with AVG's run times", ", A rounded down"
	report := study.Report{
		Name:  "downey",
		Title: "Downey, Using Queue Time Predictions for Processor Allocation (1997)",
		Tables: []study.Table{
			table("Sections 5.1 and 5.2: the jobs under AVG, and what OPT could gain", []study.Line{
				{Name: "median duration", Unit: "min", Paper: study.Paper(3), Ours: study.Of("alone AVG", "duration")},
				{Name: "mean duration", Unit: "h", Paper: study.Paper(1.3), Ours: study.Of("alone AVG", "durations")},
				{Name: "spoiled: got all the processors of use to them", Unit: "% of jobs", Paper: study.Paper(63), Ours: study.Of("alone AVG", "spoiled").ShareOf(100)},
				{Name: "saved by the median rebel, OPT", Unit: "min", Paper: study.Paper(15), Ours: study.Of("alone OPT", "median")},
				{Name: "saved by a rebel in the mean, OPT", Unit: "h", Paper: study.Paper(1.6), Ours: study.Of("alone OPT", "mean")},
				{Name: "work of a rebel over that of a docile job, OPT", Paper: study.Paper(8), Ours: study.Of("alone OPT", "heavier")},
			}),
			table("Table 1: each job alone follows a strategy, all others AVG", slices.Concat(
				eachStrategy(downeyStrategy.rebelsLine), eachStrategy(downeyStrategy.savedLine), eachStrategy(downeyStrategy.losersLine),
			)),
			table("Sections 5.3 and 5.4: predictions, and the rebels who rely on them", []study.Line{
				{Name: "PRED: saved by the median rebel", Unit: "min", Paper: study.Paper(55), Ours: study.Of("alone PRED", "median"), Note: noteLifetimes},
				{Name: "PRED: saved by a rebel in the mean", Unit: "h", Paper: study.Paper(2.7), Ours: study.Of("alone PRED", "mean"), Note: noteLifetimes},
				{Name: "PRED: lost by a rebel who loses", Unit: "min", Paper: study.Paper(3.7), Ours: study.Of("alone PRED", "lost")},
				{Name: "PRED: correlation of predicted and actual waits", Paper: study.Paper(.48), Ours: study.Of("alone PRED", "correlation")},
				{Name: "PRED: slope of their line", Paper: study.Paper(.6), Ours: study.Of("alone PRED", "slope")},
				{Name: "PRED: intercept", Unit: "ln s", Paper: study.Paper(1.7), Ours: study.Of("alone PRED", "intercept"), Note: noteLifetimes},
				{Name: "BIAS: correlation", Paper: study.Paper(.59), Ours: study.Of("alone BIAS", "correlation")},
				{Name: "BIAS: slope", Paper: study.Paper(1.01), Ours: study.Of("alone BIAS", "slope")},
				{Name: "BIAS: intercept", Unit: "ln s", Paper: study.Paper(-.01), Ours: study.Of("alone BIAS", "intercept")},
			}),
			table("Table 2 and section 6.1: all jobs follow a strategy", slices.Concat(
				[]study.Line{{Name: "AVG: turnaround", Unit: "s", Paper: study.Paper(downeyTurnaround), Ours: study.Of("all AVG", "turnaround")}},
				eachStrategy(downeyStrategy.slowerLine),
				[]study.Line{
					{Name: "BIAS, locked in: turnaround", Unit: "% more than AVG", Paper: study.Paper(study.More(5011, downeyTurnaround)), Ours: study.Of("all BIAS, locked in", "slower"), Note: noteTimid},
					{Name: "BIAS, locked in, averse to risk: turnaround", Unit: "% more than AVG", Paper: study.Paper(study.More(4783, downeyTurnaround)), Ours: study.Of("all BIAS, locked in, averse to risk", "slower"), Note: noteTimid},
				},
				eachStrategy(downeyStrategy.busierLine),
			)),
			table("Other readings of the paper", []study.Line{
				{Name: "PRED: rebels" + fitted, Unit: "% of jobs", Paper: study.Paper(7.85), Ours: study.Of("alone PRED, fitted lifetimes", "rebels").ShareOf(100), Note: "the paper's predictions are longer"},
				{Name: "PRED: saved by the median rebel" + fitted, Unit: "min", Paper: study.Paper(55), Ours: study.Of("alone PRED, fitted lifetimes", "median")},
				{Name: "PRED: intercept" + fitted, Unit: "ln s", Paper: study.Paper(1.7), Ours: study.Of("alone PRED, fitted lifetimes", "intercept")},
				{Name: "PRED: turnaround" + fitted, Unit: "% more than AVG", Paper: study.Paper(-3), Ours: study.Of("all PRED, fitted lifetimes", "slower")},
				{Name: "mean duration" + whole, Unit: "h", Paper: study.Paper(1.3), Ours: study.Of("alone OPT, A rounded down", "durations"), Note: "the paper rounds up"},
				{Name: "spoiled" + whole, Unit: "% of jobs", Paper: study.Paper(63), Ours: study.Of("alone OPT, A rounded down", "spoiled").ShareOf(100)},
				{Name: "OPT: rebels" + whole, Unit: "% of jobs", Paper: study.Paper(13.95), Ours: study.Of("alone OPT, A rounded down", "rebels").ShareOf(100)},
				{Name: "OPT: turnaround" + whole, Unit: "% more than AVG", Paper: study.Paper(9), Ours: study.Of("all OPT, A rounded down", "slower")},
			}),
		},
		Differences: downeyDifferences,
		Figures: []study.Figure{
			downeyFigure(r, "saved", "Each job alone follows a strategy", "saved by a job, min", downeyStrategy.savedLine),
			downeyFigure(r, "turnaround", "All jobs follow a strategy", "turnaround, % more than AVG", downeyStrategy.slowerLine),
		},
	}
	if o.Quick {
		report.Differences = append([]string{fmt.Sprintf("Runs are of %d days, not of %d, and so scatter more.", downeyQuickDays, downeyDays)}, downeyDifferences...)
	}
	return report
}

// downeyStrategy has the numbers of a strategy in the paper's Tables 1 and 2.
type downeyStrategy struct {
	rule               downey.Rule
	rebels             float64 // number of jobs
	saved              float64 // minutes for each job
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

func eachStrategy(declare func(downeyStrategy) study.Line) []study.Line {
	var lines []study.Line
	for _, s := range downeyStrategies {
		lines = append(lines, declare(s))
	}
	return lines
}

func (s downeyStrategy) alone(value string) study.Measure {
	return study.Of("alone "+string(s.rule), value)
}
func (s downeyStrategy) all(value string) study.Measure {
	return study.Of("all "+string(s.rule), value)
}

func (s downeyStrategy) rebelsLine() study.Line {
	return study.Line{Name: string(s.rule) + ": rebels", Unit: "% of jobs", Paper: study.Paper(100 * s.rebels / downeyJobs), Ours: s.alone("rebels").ShareOf(100), Note: s.noteAlone}
}

func (s downeyStrategy) savedLine() study.Line {
	return study.Line{Name: string(s.rule) + ": saved by a job", Unit: "min", Paper: study.Paper(s.saved), Ours: s.alone("saved")}
}

func (s downeyStrategy) losersLine() study.Line {
	return study.Line{Name: string(s.rule) + ": rebels who lose", Unit: "%", Paper: study.Paper(s.losers), Ours: s.alone("losers").ShareOf(100), Note: s.noteLosers}
}

func (s downeyStrategy) slowerLine() study.Line {
	return study.Line{Name: string(s.rule) + ": turnaround", Unit: "% more than AVG", Paper: study.Paper(s.slower), Ours: s.all("slower"), Note: s.noteAll}
}

func (s downeyStrategy) busierLine() study.Line {
	return study.Line{Name: string(s.rule) + ": utilisation", Unit: "% more than AVG", Paper: study.Paper(s.busier), Ours: s.all("busier")}
}

// downeyFigure shows the paper's number and ours for each strategy.
func downeyFigure(r study.Results, name, title, y string, declare func(downeyStrategy) study.Line) study.Figure {
	papers, ours := study.Series{Name: "paper"}, study.Series{Name: "ours"}
	f := study.Figure{Name: name, Title: title, X: "strategy", Y: y}
	for _, s := range downeyStrategies {
		l := declare(s)
		f.Labels = append(f.Labels, string(s.rule))
		papers.Y = append(papers.Y, *l.Paper)
		ours.Y = append(ours.Y, r.Interval(l.Ours).Mean)
	}
	f.Series = []study.Series{papers, ours}
	return f
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
