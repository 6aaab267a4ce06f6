package varq

import (
	"fmt"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (m Forecasters) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, m.seeds(o))
	report := study.Report{
		Name:        "forecasters",
		Title:       "Nurmi, Wolski and Brevik, VARQ (2007), section 4.4: reservations planned by plain QBETS and by varqd's blend",
		Differences: methodDifferences(o),
	}
	for _, log := range methodLogs {
		var calm, around []study.Line
		for _, s := range calmSettings(log) {
			calm = append(calm, s.lines(r)...)
		}
		for _, s := range []methodSetting{asInPaper(log), asVarqd(log)} {
			around = append(around, s.withOutages().outageLines(r)...)
		}
		report.Tables = append(report.Tables,
			r.Table(log+": a tenth of the jobs asks for .95, or .99 where it says so", append(calm, gainLines(log)...)),
			r.Table(log+": the same with an outage of 6 h every 30 days", around))
		report.Figures = append(report.Figures, plannedFigure(log, r))
	}
	return report
}

// of returns the measure of a value of the setting's case.
func (s methodSetting) of(value string) study.Measure { return study.Of(s.name(), value) }

// label returns the name of the method. It adds the probability asked for if that is not
// methodProb, and the bound on holding nodes if there is one.
func (s methodSetting) label() string {
	label := s.method.String()
	if s.prob != methodProb {
		label += fmt.Sprintf(" at %v", s.prob)
	}
	if s.maxHold > 0 {
		label += fmt.Sprintf(" holding %v limits", s.maxHold)
	}
	return label
}

// lines returns the rows of a setting without outages.
func (s methodSetting) lines(r study.Results) []study.Line {
	name := s.label() + ": "
	var predicted, kept *float64
	if s == asInPaper(jobLog) {
		cell := cells[2] // a tenth at .95
		predicted, kept = study.Paper(cell.predicted), study.Paper(cell.actual)
	}
	return []study.Line{
		{Name: name + "accepted", Unit: "% of those who asked", Ours: s.of("granted").Times(100).ShareOf(100)},
		{Name: name + "probability forecast", Paper: predicted, Ours: s.of("prob").ShareOf(1), Note: fmt.Sprintf("when %v was promised", s.prob)},
		{Name: name + "kept", Paper: kept, Ours: s.of("kept").ShareOf(1), Note: s.judgement(r)},
		{Name: name + "cost", Unit: "of the work's own", Ours: s.of("cost"), Note: "1 more than the overhead; who comes too late holds nothing"},
		{Name: name + "overhead of promises kept", Unit: "of the work's own", Ours: s.of("overhead of kept")},
		{Name: name + "the others' wait", Unit: "min more", Ours: s.of("wait").Minus(s.of("wait without")).Per(60)},
		{Name: name + "the others' mean bounded slowdown", Unit: "more", Ours: s.of("slowdown").Minus(s.of("slowdown without"))},
	}
}

// judgement compares the share of kept promises, of all seeds, with the probability asked
// for. All seeds live through the same weeks. So the interval is not narrower than that of
// one seed: its ends are the means of the seeds' ends.
func (s methodSetting) judgement(r study.Results) string {
	kept, promised := r.Total(s.of("kept promises")), r.Total(s.of("promised"))
	if promised == 0 {
		return ""
	}
	ends := r.Means(s.of("kept low"), s.of("kept high"))
	low, high := ends[0], ends[1]
	return fmt.Sprintf("%d of %d, %.3f to %.3f: %s", kept, promised, low, high, score.Judge(low, high, s.prob))
}

// gainLines compares varqd's setting with the paper's, seed by seed.
func gainLines(log string) []study.Line {
	ours, theirs := asVarqd(log), asInPaper(log)
	gain := func(value string) study.Measure { return ours.of(value).Minus(theirs.of(value)) }
	name := fmt.Sprintf("%s against %s: ", ours.label(), theirs.label())
	return []study.Line{
		{Name: name + "accepted", Unit: "percentage points more", Ours: gain("granted").Times(100)},
		{Name: name + "kept", Unit: "percentage points more", Ours: gain("kept").Times(100)},
		{Name: name + "cost", Unit: "more", Ours: gain("cost")},
	}
}

// outageLines returns the rows of a setting with outages.
func (s methodSetting) outageLines(r study.Results) []study.Line {
	name := s.label() + ": "
	down, asked := r.Total(s.of("down in outages")), r.Total(s.of("asked in outages"))
	return []study.Line{
		{Name: name + "kept", Unit: "of all promises", Ours: s.of("kept").ShareOf(1), Note: s.judgement(r)},
		{Name: name + "promised during outages", Ours: s.of("promised in outages"), Note: fmt.Sprintf("of %d who asked, all seeds together", asked)},
		{Name: name + "kept of these", Ours: s.of("kept in outages")},
		{Name: name + "refused during outages", Unit: "because the machine seemed to be down", Ours: s.of("down in outages"), Note: fmt.Sprintf("%d, all seeds together", down)},
	}
}

// plannedFigure shows three values of the paper's setting and of varqd's.
func plannedFigure(log string, r study.Results) study.Figure {
	f := study.Figure{
		Name: "planned-" + log, Title: "Reservations on " + log, X: "measure", Y: "share",
		Labels: []string{"accepted", "kept", "overhead"},
	}
	for _, s := range []methodSetting{asInPaper(log), asVarqd(log)} {
		y := r.Means(s.of("granted"), s.of("kept"), s.of("cost"))
		y[2] = max(0, y[2]-1)
		f.Series = append(f.Series, study.Series{Name: s.label(), Y: y})
	}
	return f
}

func methodDifferences(o study.Options) []string {
	d := []string{
		"The paper has neither the blend nor outages, and only DataStar: its numbers are those of its Table 4, a tenth of the jobs at .95, beside plain QBETS; they are those of 11 promises.",
		"All jobs of the logs run, on all processors of their machines, first come, first served with EASY backfilling; the paper's scheduler is Maui, and it does not say which jobs it took.",
		"Plain QBETS is this project's, told of nothing but starts: it knows nothing of the jobs that wait, and that none has started for long. Unlike the paper's it finds its classes of jobs itself, and leaves out waits in which it later sees an outage.",
		"A promise that is broken costs nothing: its job comes too late to hold anything. Plain QBETS breaks more than it says, so that its cost at .95 is that of a lesser promise; at .99 it is asked for more, to be compared at what is kept.",
		"Where it says so, a job may hold processors before its work for at most four times its time limit, or for an hour: more is refused. So varqd plans unless it is told otherwise; the paper knows no bound, and pays for the short jobs that hold much.",
		"Plans made anew may hold more than was quoted with the promise, so that forecasts are compared; varqd's do not, unless the user lets them: varq-lab simulate --reservations=varq=10%,max-cost=1x tells the difference.",
		"A job asks for the next deadline after its submission, of which there is one every six hours; if it is refused it joins the queue.",
		"A reservation is planned anew every four minutes until its job has joined the queue; varqd does so every few seconds. Both planners learn from the first job on; nothing is left out to warm up.",
		"The intervals are over seeds, which choose who asks in the same log; the note of what was kept has the interval of the promises themselves, for which weeks are independent of one another, and the promises of one week are not.",
		"During an outage no job starts, and those that run go on; the first begins on the 15th day. Who asks before it cannot be warned.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs.", methodQuickJobs))
	}
	return d
}
