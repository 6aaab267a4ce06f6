package deadlines

import (
	"fmt"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	report := study.Report{
		Name:        "deadlines",
		Title:       "ends promised by distributions, by point estimates and by limits, with the measures of Park et al., 3Sigma: Distribution-based Cluster Scheduling for Runtime Uncertainty (2018)",
		Differences: differences(o),
	}
	for _, log := range logs {
		for _, due := range dueTimes {
			report.Tables = append(report.Tables, table(r, log, due))
		}
	}
	for i, due := range dueTimes {
		report.Figures = append(report.Figures, figure(r, due, fmt.Sprintf("missed-%d", i+1)))
	}
	return report
}

// weeks returns a value of each week, summed over the seeds.
func (c setting) weeks(r study.Results, value string) []float64 {
	return r.Weeks(c.name(), value+" %d")
}

// missed returns the share of the promises that were missed.
func (c setting) missed(r study.Results) study.Interval {
	return study.Percent(c.weeks(r, "missed"), c.weeks(r, "promised"))
}

func table(r study.Results, log string, due dueTime) study.Table {
	t := study.Table{Title: fmt.Sprintf("%s, due after %s", log, due.name)}
	cases := map[string]setting{}
	for _, a := range admissions() {
		c := setting{log, due, a}
		cases[a.name] = c
		row := func(what, unit string, ours study.Interval, note string) {
			t.Rows = append(t.Rows, study.Row{Name: a.name + ": " + what, Unit: unit, Ours: ours, Note: note})
		}
		row("promised", "% of the jobs that ask", study.Percent(c.weeks(r, "promised"), c.weeks(r, "asked")), "")
		note := ""
		if withdrawn := study.Percent(c.weeks(r, "withdrawn"), c.weeks(r, "promised")); withdrawn.Mean > 0 {
			note = fmt.Sprintf("%.2f were cancelled while they waited", withdrawn.Mean)
		}
		row("missed", "% of the promised", c.missed(r), note)
		row("goodput", "% of the work that asks", study.Percent(c.weeks(r, "kept work"), c.weeks(r, "asked work")), "")
		latency := study.Percent(c.weeks(r, "latency"), c.weeks(r, "others"))
		const hundredHours = 100 * 3600
		row("latency of the others", "h", study.Interval{Mean: latency.Mean / hundredHours, Low: latency.Low / hundredHours, High: latency.High / hundredHours, N: latency.N}, "")
	}
	ours, points := cases[byMedian], cases[byPoints]
	against := func(what, unit string, by study.Interval) {
		t.Rows = append(t.Rows, study.Row{Name: byMedian + ", against " + byPoints + ": " + what, Unit: unit, Ours: by})
	}
	against("missed", "% of the jobs that ask, fewer", study.Percent(study.Difference(points.weeks(r, "missed"), ours.weeks(r, "missed")), ours.weeks(r, "asked")))
	against("goodput", "% of the work that asks, more", study.Percent(study.Difference(ours.weeks(r, "kept work"), points.weeks(r, "kept work")), ours.weeks(r, "asked work")))
	against("latency of the others", "% less", study.Percent(study.Difference(points.weeks(r, "latency"), ours.weeks(r, "latency")), points.weeks(r, "latency")))
	return t
}

// figure shows the deadlines missed in each log.
func figure(r study.Results, due dueTime, name string) study.Figure {
	f := study.Figure{Name: name, Title: "Due after " + due.name, X: "log", Y: "missed, % of the promised", Labels: logs}
	for _, a := range admissions() {
		series := study.Series{Name: a.name}
		for _, log := range logs {
			series.Y = append(series.Y, setting{log, due, a}.missed(r).Mean)
		}
		f.Series = append(f.Series, series)
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"3Sigma is a scheduler: it chooses when and where jobs run, and which of them are preempted or dropped. varq does not schedule, so here the schedule is first come, first served, with EASY backfilling, and what differs is which ends are promised. A job whose end is not promised goes elsewhere. So no row has a number of the paper.",
		"Jobs are the first of real logs, half of which have deadlines at random: as in the paper 1.2, 1.4, 1.6 or 1.8 times the run time after the submission, or else 1, 2, 4, 8, 12 or 24 hours. The paper's deadlines are of jobs that a scheduler puts first, and they tell of run times that nobody knows: a late one means that the job runs for long. So what is promised by a distribution, which does not know that, is kept more often than with its probability, and fewer jobs are promised than could be.",
		"A promise of distributions is that the wait and the run time together end by the deadline with at least that probability, as varqd forecasts it. Point estimates are the wait in a simulation of the queue in which all jobs run for the median of their forecast, and then that median: the same knowledge of run times, as one number. Limits are the same with users' limits. Slurm's --deadline refuses jobs whose limits do not fit before the deadline, and cancels them once that is so.",
		"Jobs that reach their limits are left out, as nothing is promised about them. Goodput is the work of jobs that were promised to end in time and did.",
		"Intervals are of a bootstrap over the weeks in which jobs were submitted, all seeds together: weeks are taken as independent of one another. Nothing was chosen by these numbers.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only %d jobs of each log.", quickJobs))
	}
	return d
}
