package study

import "fmt"

// Report implements Study.
func (s Deadlines) Report(o Options, outcomes []Outcome) Report {
	r := ResultsOf(outcomes, s.seeds(o))
	report := Report{
		Name:        "deadlines",
		Title:       "ends promised by distributions, by point estimates and by limits, with the measures of Park et al., 3Sigma: Distribution-based Cluster Scheduling for Runtime Uncertainty (2018)",
		Differences: deadlinesDifferences(o),
	}
	for _, log := range deadlinesLogs {
		for _, due := range deadlinesDues {
			report.Tables = append(report.Tables, deadlinesTable(r, log, due))
		}
	}
	for i, due := range deadlinesDues {
		report.Figures = append(report.Figures, deadlinesFigure(r, due, fmt.Sprintf("missed-%d", i+1)))
	}
	return report
}

// weeks returns a value of each week, summed over the seeds.
func (c deadlinesCase) weeks(r Results, value string) []float64 {
	return r.Weeks(c.name(), value+" %d")
}

// missed returns the share of the promises that were missed.
func (c deadlinesCase) missed(r Results) Interval {
	return Percent(c.weeks(r, "missed"), c.weeks(r, "promised"))
}

func deadlinesTable(r Results, log string, due deadlinesDue) Table {
	t := Table{Title: fmt.Sprintf("%s, due after %s", log, due.name)}
	cases := map[string]deadlinesCase{}
	for _, a := range deadlinesAdmissions() {
		c := deadlinesCase{log, due, a}
		cases[a.name] = c
		row := func(what, unit string, ours Interval, note string) {
			t.Rows = append(t.Rows, Row{Name: a.name + ": " + what, Unit: unit, Ours: ours, Note: note})
		}
		row("promised", "% of the jobs that ask", Percent(c.weeks(r, "promised"), c.weeks(r, "asked")), "")
		note := ""
		if withdrawn := Percent(c.weeks(r, "withdrawn"), c.weeks(r, "promised")); withdrawn.Mean > 0 {
			note = fmt.Sprintf("%.2f were cancelled while they waited", withdrawn.Mean)
		}
		row("missed", "% of the promised", c.missed(r), note)
		row("goodput", "% of the work that asks", Percent(c.weeks(r, "kept work"), c.weeks(r, "asked work")), "")
		latency := Percent(c.weeks(r, "latency"), c.weeks(r, "others"))
		const hundredHours = 100 * 3600
		row("latency of the others", "h", Interval{latency.Mean / hundredHours, latency.Low / hundredHours, latency.High / hundredHours, latency.N}, "")
	}
	ours, points := cases[byMedian], cases[byPoints]
	against := func(what, unit string, by Interval) {
		t.Rows = append(t.Rows, Row{Name: byMedian + ", against " + byPoints + ": " + what, Unit: unit, Ours: by})
	}
	against("missed", "% of the jobs that ask, fewer", Percent(Difference(points.weeks(r, "missed"), ours.weeks(r, "missed")), ours.weeks(r, "asked")))
	against("goodput", "% of the work that asks, more", Percent(Difference(ours.weeks(r, "kept work"), points.weeks(r, "kept work")), ours.weeks(r, "asked work")))
	against("latency of the others", "% less", Percent(Difference(points.weeks(r, "latency"), ours.weeks(r, "latency")), points.weeks(r, "latency")))
	return t
}

// deadlinesFigure shows the deadlines missed in each log.
func deadlinesFigure(r Results, due deadlinesDue, name string) Figure {
	f := Figure{Name: name, Title: "Due after " + due.name, X: "log", Y: "missed, % of the promised", Labels: deadlinesLogs}
	for _, a := range deadlinesAdmissions() {
		series := Series{Name: a.name}
		for _, log := range deadlinesLogs {
			series.Y = append(series.Y, deadlinesCase{log, due, a}.missed(r).Mean)
		}
		f.Series = append(f.Series, series)
	}
	return f
}

func deadlinesDifferences(o Options) []string {
	d := []string{
		"3Sigma is a scheduler: it chooses when and where jobs run, and which of them are preempted or dropped. varq does not schedule, so here the schedule is first come, first served, with EASY backfilling, and what differs is which ends are promised. A job whose end is not promised goes elsewhere. So no row has a number of the paper.",
		"Jobs are the first of real logs, half of which have deadlines at random: as in the paper 1.2, 1.4, 1.6 or 1.8 times the run time after the submission, or else 1, 2, 4, 8, 12 or 24 hours. The paper's deadlines are of jobs that a scheduler puts first, and they tell of run times that nobody knows: a late one means that the job runs for long. So what is promised by a distribution, which does not know that, is kept more often than with its probability, and fewer jobs are promised than could be.",
		"A promise of distributions is that the wait and the run time together end by the deadline with at least that probability, as varqd forecasts it. Point estimates are the wait in a simulation of the queue in which all jobs run for the median of their forecast, and then that median: the same knowledge of run times, as one number. Limits are the same with users' limits. Slurm's --deadline refuses jobs whose limits do not fit before the deadline, and cancels them once that is so.",
		"Jobs that reach their limits are left out, as nothing is promised about them. Goodput is the work of jobs that were promised to end in time and did.",
		"Intervals are of a bootstrap over the weeks in which jobs were submitted, all seeds together: weeks are taken as independent of one another. Nothing was chosen by these numbers.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only %d jobs of each log.", deadlinesQuickJobs))
	}
	return d
}
