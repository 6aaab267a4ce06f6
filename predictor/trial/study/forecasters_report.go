package study

import (
	"fmt"

	"github.com/varq-project/varq/predictor/stats"
)

// Report implements Study.
func (f Forecasters) Report(o Options, outcomes []Outcome) Report {
	r, seeds := resultsOf(outcomes), f.seeds(o)
	report := Report{
		Name:        "forecasters",
		Title:       "Nurmi, Wolski and Brevik, VARQ (2007), section 4.4: reservations planned by plain QBETS and by varqd's blend",
		Differences: forecastDifferences(o),
	}
	for _, log := range forecastLogs {
		normal := Table{Title: log + ": a tenth of the jobs asks for .95, or .99 where it says so"}
		outages := Table{Title: log + ": the same with an outage of 6 h every 30 days"}
		for _, s := range calmSettings(log) {
			normal.Rows = append(normal.Rows, s.rows(r, seeds)...)
		}
		for _, s := range []forecastSetting{asInPaper(log), asVarqd(log)} {
			outages.Rows = append(outages.Rows, s.withOutages().outageRows(r, seeds)...)
		}
		normal.Rows = append(normal.Rows, forecastGains(log, r, seeds)...)
		report.Tables = append(report.Tables, normal, outages)
		report.Figures = append(report.Figures, forecastFigure(log, r, seeds))
	}
	return report
}

// of returns the interval of a measure, in so many of its units.
func (s forecastSetting) of(r results, seeds int, measure string, units float64) Interval {
	return overSeeds(seeds, func(seed uint64) float64 { return units * r.value(s.name(), seed, measure) })
}

// total returns the sum over the seeds of what is known of two counts.
func (s forecastSetting) total(r results, seeds int, part, whole string) (k, n int) {
	for seed := range seeds {
		v, ok := r[Case{s.name(), uint64(seed) + 1}]
		if ok {
			k, n = k+int(v[part]), n+int(v[whole])
		}
	}
	return k, n
}

// label is the planner's name, with what is asked of it unless that is usual, and how
// long it may hold nodes unless that is any time.
func (s forecastSetting) label() string {
	label := s.planner.String()
	if s.prob != forecastProb {
		label += fmt.Sprintf(" at %v", s.prob)
	}
	if s.maxHold > 0 {
		label += fmt.Sprintf(" holding %v limits", s.maxHold)
	}
	return label
}

// rows tells what a planner did in normal times.
func (s forecastSetting) rows(r results, seeds int) []Row {
	name := s.label() + ": "
	kept := Row{Name: name + "kept", Ours: s.of(r, seeds, "kept", 1), Note: s.judgement(r, seeds)}
	predicted := Row{Name: name + "probability forecast", Ours: s.of(r, seeds, "prob", 1), Note: fmt.Sprintf("when %v was promised", s.prob)}
	if s == asInPaper(varqLog) {
		cell := varqCells[2] // a tenth at .95
		kept.Paper, predicted.Paper = &cell.actual, &cell.predicted
	}
	more := func(measure string, units float64) Interval {
		return overSeeds(seeds, func(seed uint64) float64 {
			return (r.value(s.name(), seed, measure) - r.value(s.name(), seed, measure+" without")) / units
		})
	}
	return []Row{
		{Name: name + "accepted", Unit: "% of those who asked", Ours: s.of(r, seeds, "granted", 100)},
		predicted,
		kept,
		{Name: name + "cost", Unit: "of the work's own", Ours: s.of(r, seeds, "cost", 1), Note: "1 more than the overhead; who comes too late holds nothing"},
		{Name: name + "overhead of promises kept", Unit: "of the work's own", Ours: s.of(r, seeds, "overhead of kept", 1)},
		{Name: name + "the others' wait", Unit: "min more", Ours: more("wait", 60)},
		{Name: name + "the others' mean bounded slowdown", Unit: "more", Ours: more("slowdown", 1)},
	}
}

// judgement holds the promises kept with all seeds against what was asked for.
func (s forecastSetting) judgement(r results, seeds int) string {
	kept, promised := s.total(r, seeds, "kept promises", "promised")
	if promised == 0 {
		return ""
	}
	low, high := stats.ProportionInterval(kept, promised, .95)
	verdict := "as promised"
	switch {
	case high < s.prob:
		verdict = "less than promised"
	case low > s.prob:
		verdict = "more than promised"
	}
	return fmt.Sprintf("%d of %d, %.3f to %.3f: %s", kept, promised, low, high, verdict)
}

// forecastGains holds the planners against each other, seed by seed.
func forecastGains(log string, r results, seeds int) []Row {
	ours, theirs := asVarqd(log), asInPaper(log)
	gain := func(measure string, units float64) Interval {
		return overSeeds(seeds, func(seed uint64) float64 {
			return units * (r.value(ours.name(), seed, measure) - r.value(theirs.name(), seed, measure))
		})
	}
	name := fmt.Sprintf("%s against %s: ", ours.label(), theirs.label())
	return []Row{
		{Name: name + "accepted", Unit: "percentage points more", Ours: gain("granted", 100)},
		{Name: name + "kept", Unit: "percentage points more", Ours: gain("kept", 100)},
		{Name: name + "cost", Unit: "more", Ours: gain("cost", 1)},
	}
}

// outageRows tells what a planner did around outages.
func (s forecastSetting) outageRows(r results, seeds int) []Row {
	name := s.label() + ": "
	down, asked := s.total(r, seeds, "down in outages", "asked in outages")
	return []Row{
		{Name: name + "kept", Unit: "of all promises", Ours: s.of(r, seeds, "kept", 1), Note: s.judgement(r, seeds)},
		{Name: name + "promised during outages", Ours: s.of(r, seeds, "promised in outages", 1), Note: fmt.Sprintf("of %d who asked, all seeds together", asked)},
		{Name: name + "kept of these", Ours: s.of(r, seeds, "kept in outages", 1)},
		{Name: name + "refused during outages", Unit: "because the machine seemed to be down", Ours: s.of(r, seeds, "down in outages", 1), Note: fmt.Sprintf("%d, all seeds together", down)},
	}
}

// forecastFigure shows the three measures of both planners.
func forecastFigure(log string, r results, seeds int) Figure {
	f := Figure{
		Name: "planned-" + log, Title: "Reservations on " + log, X: "measure", Y: "share",
		Labels: []string{"accepted", "kept", "overhead"},
	}
	for _, s := range []forecastSetting{asInPaper(log), asVarqd(log)} {
		f.Series = append(f.Series, Series{Name: s.label(), Y: []float64{
			s.of(r, seeds, "granted", 1).Mean, s.of(r, seeds, "kept", 1).Mean, max(0, s.of(r, seeds, "cost", 1).Mean-1),
		}})
	}
	return f
}

func forecastDifferences(o Options) []string {
	d := []string{
		"The paper has neither the blend nor outages, and only DataStar: its numbers are those of its Table 4, a tenth of the jobs at .95, beside plain QBETS; they are those of 11 promises.",
		"All jobs of the logs run, on all processors of their machines, first come, first served with EASY backfilling; the paper's scheduler is Maui, and it does not say which jobs it took.",
		"Plain QBETS is this project's, told of nothing but starts: it knows nothing of the jobs that wait, and that none has started for long. Unlike the paper's it finds its classes of jobs itself, and leaves out waits in which it later sees an outage.",
		"A promise that is broken costs nothing: its job comes too late to hold anything. Plain QBETS breaks more than it says, so that its cost at .95 is that of a lesser promise; at .99 it is asked for more, to be compared at what is kept.",
		"Where it says so, a job may hold processors before its work for at most four times its time limit, or for an hour: more is refused. So varqd plans unless it is told otherwise; the paper knows no bound, and pays for the short jobs that hold much.",
		"A job asks for the next deadline after its submission, of which there is one every six hours; if it is refused it joins the queue.",
		"A reservation is planned anew every four minutes until its job has joined the queue; varqd does so every few seconds. Both planners learn from the first job on; nothing is left out to warm up.",
		"The intervals are over seeds, which choose who asks in the same log; the note of what was kept has the interval of the promises themselves, as if one said nothing of the next.",
		"During an outage no job starts, and those that run go on; the first begins on the 15th day. Who asks before it cannot be warned.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs.", forecastQuickJobs))
	}
	return d
}
