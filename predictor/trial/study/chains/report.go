package chains

import (
	"fmt"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/chains/chain"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	report := study.Report{
		Name:        "chains",
		Title:       "chains of jobs without a gap, with the measures of Ding et al., Mirage: Towards Low-interruption Services on Batch GPU Clusters with Reinforcement Learning (2023)",
		Differences: differences(o),
		Figures:     []study.Figure{figure(r)},
	}
	for _, log := range logs {
		report.Tables = append(report.Tables, table(r, log))
	}
	return report
}

// of returns the measure of a value.
func (c setting) of(value string) study.Measure { return study.Of(c.name(), value) }

// part returns the measure of a value as per cent of another.
func (c setting) part(value, of string) study.Measure { return c.of(value).PartOf(c.of(of)) }

// without returns the per cent of the pairs that have no gap.
func (c setting) without() study.Share { return c.part("without", "n pairs").ShareOf(100) }

// gap and wait return the mean gap, and the mean wait of the other jobs, in hours.
func (c setting) gap() study.Measure  { return c.part("gap", "n pairs").Per(100 * 3600) }
func (c setting) wait() study.Measure { return c.part("wait", "n others").Per(100 * 3600) }

// less returns the measure of the per cent by which m is below other. It is unknown where other is
// 0.
func less(m, other study.Measure) study.Measure {
	part := m.PartOf(other)
	return func(r study.Results, seed uint64) float64 { return 100 - part(r, seed) }
}

func table(r study.Results, log string) study.Table {
	usual := setting{log, atEnd}
	t := study.Table{Title: log}
	row := func(name, unit string, ours study.Quantity, note string) {
		t.Rows = append(t.Rows, study.Row{Name: name, Unit: unit, Ours: r.Interval(ours), Note: note})
	}
	row("taken by all jobs", "% of the machine", usual.part("taken", "n machine").ShareOf(100), "")
	row("taken by chains", "% of the machine", usual.part("by chains", "n machine").ShareOf(100), fmt.Sprintf("%d pairs", r.Total(usual.of("n pairs"))))
	for _, w := range ways {
		c := setting{log, w}
		row(w.name+": without a gap", "% of the pairs", c.without(), mirage(w, "23 to 76"))
		row(w.name+": gap", "h", c.gap(), "")
		row(w.name+": idle before", "% of the work", c.part("idle", "n work"), "")
		row(w.name+": wait of the others", "h", c.wait(), "")
		if w != atEnd {
			row(w.name+": gap, against "+atEnd.name, "% less", less(c.gap(), usual.gap()), mirage(w, "17 to 100"))
			row(w.name+": wait of the others, against "+atEnd.name, "% less", less(c.wait(), usual.wait()), "")
		}
	}
	c := setting{log, promised}
	for _, prob := range chain.Ladder {
		n, kept := promisedWith(prob), keptWith(prob)
		name := fmt.Sprintf("%s: %v", promised.name, prob)
		row(name+" promised", "% of the pairs", c.part(n, "n pairs").ShareOf(100), "")
		row(name+" kept", "% of the promised", c.part(kept, n).ShareOf(100), fmt.Sprintf("%d of %d", r.Total(c.of(kept)), r.Total(c.of(n))))
	}
	return t
}

// mirage returns the note about a number of the paper, which is of the paper's own way.
func mirage(w way, numbers string) string {
	if w != promised {
		return ""
	}
	return "Mirage, elsewhere: " + numbers
}

// figure shows the pairs without a gap in each log.
func figure(r study.Results) study.Figure {
	f := study.Figure{Name: "without", Title: "Chains of jobs", X: "log", Y: "without a gap, % of the pairs", Labels: logs}
	for _, w := range ways {
		series := study.Series{Name: w.name}
		for _, log := range logs {
			series.Y = append(series.Y, r.Interval(setting{log, w}.without()).Mean)
		}
		f.Series = append(f.Series, series)
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"Mirage's numbers are of three GPU clusters of TACC (V100, RTX and A100), from a light load to a heavy one. Here are logs of three machines of the nineties. So the numbers are no comparison of two methods, and no row has a number of the paper.",
		"Mirage's jobs come in pairs, of 48 hours, on 1 or 8 nodes. Here chains have 5 links, of the size and limit of jobs that ran for 2 hours and half of their limits at least, and run until their limits. A gap of up to 60 s counts as none. At the end, the next link is submitted in the same second, as no user does by hand.",
		"Mirage replays with Slurm's simulator. Here the schedule is first come, first served, with EASY backfilling. At once, afterany is of a Slurm with ACCRUE_ALWAYS in its PriorityFlags: a link's place in the queue is that of its submission. Here nothing else gives jobs their places, so that it gains more than where age is one factor of several. Without that flag it is the same as at the end.",
		"Mirage learns by reinforcement when to submit, and has only the time of the submission to choose. varq asks for a start by the end of the link before with probability .9, .75, .5 or .25, plans it anew every 10 minutes, and enlarges the time limit, so that what a link idles is not taken off its work. Elsewhere it is. Where all is refused, the link is submitted at the end; varq chain submits it at once, afterany, which is the same without ACCRUE_ALWAYS. Nobody else asks for promises, and with few of them varq counts the risk to be late twice.",
		"The mean wait is that of the last 100 jobs of like size that have started, as one of Mirage's baselines has.",
		"Chains are begun so far apart that the work of all of them is 5 % of the machine's, beside all jobs of the log. Pairs count whose former link ends before the last job is submitted. The seeds draw the chains. No constant was chosen by these numbers.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only %d jobs of each log.", quickJobs))
	}
	return d
}
