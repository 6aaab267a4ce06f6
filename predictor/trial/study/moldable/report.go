package moldable

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (m Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, m.seeds(o))
	report := study.Report{
		Name:        "moldable",
		Title:       "sizes of jobs chosen by forecasts of their waits; Downey, Using Queue Time Predictions for Processor Allocation (1997), and real logs",
		Differences: differences(o),
	}
	report.Tables = append(report.Tables, machineTables(r)...)
	for _, log := range logs {
		report.Tables = append(report.Tables, r.Table(log+": each job alone chooses its size, and all others have those that were asked for", r.Known(aloneLines(log))))
	}
	for _, log := range logs {
		for _, share := range moldableShares {
			title := fmt.Sprintf("%s: %.0f %% of the jobs choose their sizes", log, 100*share)
			report.Tables = append(report.Tables, r.Table(title, r.Known(allLines(log, share))))
		}
	}
	for i, log := range logs {
		report.Figures = append(report.Figures, figure(r, log, fmt.Sprintf("turnaround-%d", i+1)))
	}
	return report
}

// paperStrategies has the paper's numbers, by strategy.
func paperStrategies() map[string]downeyStrategy {
	papers := map[string]downeyStrategy{}
	for _, s := range downeyStrategies {
		papers[string(s.rule)] = s
	}
	return papers
}

// machineTables are about Downey's machine.
func machineTables(r study.Results) []study.Table {
	papers := paperStrategies()
	best := study.Of(machineCase(wayOPT, true), "saved")
	var alone, all []study.Line
	for _, way := range machineWays {
		p, known := papers[way]
		number := func(x float64) *float64 {
			if !known {
				return nil
			}
			return &x
		}
		a := func(value string) study.Measure { return study.Of(machineCase(way, true), value) }
		alone = append(alone, study.Line{Name: way + ": saved by a job", Unit: "min", Paper: number(p.saved), Ours: a("saved")})
		if way != wayOPT {
			alone = append(alone, study.Line{Name: way + ": saved", Unit: "% of what OPT saves", Paper: number(100 * p.saved / papers[wayOPT].saved), Ours: a("saved").PartOf(best)})
		}
		alone = append(alone, study.Line{Name: way + ": rebels who lose", Unit: "%", Paper: number(p.losers), Ours: a("losers").ShareOf(100)})
		of := func(value string) study.Measure { return study.Of(machineCase(way, false), value) }
		all = append(all, study.Line{Name: way + ": turnaround", Unit: "% more than AVG", Paper: number(p.slower), Ours: of("slower")},
			study.Line{Name: way + ": utilisation", Unit: "% more than AVG", Paper: number(p.busier), Ours: of("busier")})
	}
	return []study.Table{
		r.Table("Downey's machine: each job alone follows a strategy, all others AVG", r.Known(alone)),
		r.Table("Downey's machine: all jobs follow a strategy", r.Known(all)),
	}
}

// aloneLines are about jobs that each choose alone.
func aloneLines(log string) []study.Line {
	value := func(name string) study.Measure { return study.Of(aloneCase(log), name) }
	saved := func(way string) study.Measure { return value(wayAsked).Minus(value(way)) }
	lines := []study.Line{
		{Name: "until the end, as asked", Unit: "min", Ours: value(wayAsked)},
		{Name: "OPT: saved", Unit: "min", Ours: saved(wayOPT)},
	}
	for _, way := range aloneWays {
		lines = append(lines,
			study.Line{Name: way + ": saved", Unit: "% of what OPT saves", Ours: saved(way).PartOf(saved(wayOPT))},
			study.Line{Name: way + ": end later than as asked", Unit: "% of the jobs", Ours: value(way + " loses").ShareOf(100)})
	}
	return lines
}

// allLines are about a share of the jobs that all choose.
func allLines(log string, share float64) []study.Line {
	value := func(way, name string) study.Measure { return study.Of(allCase(log, share, way), name) }
	lines := []study.Line{{Name: "as asked: turnaround", Unit: "h", Ours: value(wayAsked, "turnaround").Per(3600)}, {Name: "as asked: processors in use", Unit: "%", Ours: value(wayAsked, "busy").ShareOf(100)}}
	for _, way := range allWays[1:] {
		lines = append(lines,
			study.Line{Name: way + ": turnaround of the moldable jobs", Unit: "% more than as asked", Ours: value(way, "of moldable").Over(value(wayAsked, "of moldable"))},
			study.Line{Name: way + ": turnaround of all jobs", Unit: "% more than as asked", Ours: value(way, "turnaround").Over(value(wayAsked, "turnaround"))},
			study.Line{Name: way + ": wait of all jobs", Unit: "% more than as asked", Ours: value(way, "wait").Over(value(wayAsked, "wait"))})
	}
	for _, way := range slices.Concat(allWays[:1], allWays[2:]) {
		lines = append(lines,
			study.Line{Name: way + ": processors in use", Unit: "% more than AVG", Ours: value(way, "busy").Over(value(wayAVG, "busy"))},
			study.Line{Name: way + ": utilisation, by efficiency", Unit: "% more than AVG", Ours: value(way, "efficient").Over(value(wayAVG, "efficient"))})
	}
	return lines
}

// figure shows how much less time the moldable jobs of a log take until their end.
func figure(r study.Results, log, name string) study.Figure {
	f := study.Figure{Name: name, Title: log + ": turnaround of the moldable jobs", X: "share of the jobs that are moldable", Y: "% less than as asked"}
	for _, way := range allWays[1:] {
		series := study.Series{Name: way}
		for _, share := range moldableShares {
			value := func(way string) study.Measure { return study.Of(allCase(log, share, way), "of moldable") }
			series.Y = append(series.Y, -r.Interval(value(way).Over(value(wayAsked))).Mean)
		}
		f.Series = append(f.Series, series)
	}
	for _, share := range moldableShares {
		f.Labels = append(f.Labels, fmt.Sprintf("%.0f %%", 100*share))
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		fmt.Sprintf("Downey's machine is that of the study downey: %d days, 128 processors, load .75. varq chooses there at the head of the queue, and again when PRED does: by expected waits, simulated from the run times of past jobs of the same size that ran for as long. It is told neither Downey's distribution of lifetimes nor anything of the running jobs but their sizes and ages. Downey's own rows differ from those of the study downey by its seeds alone.", downeyDays),
		"On the logs the cluster is first come, first served, with EASY backfilling, and the paper's machine is not: nothing there passes a job that holds out. So no row has a number of the paper.",
		"A job's logged run time is that on the processors that its user asked for. Its average parallelism A is from half to twice as many, uniform in the logarithm, as users ask for too many and for too few alike, and its variance is uniform from 0 to 2, as in the paper. Run time and time limit change by its speedup. It may have 1 processor up to A, but none on which its limit would be longer than the longest of the stretch, and what was asked for.",
		"Jobs choose when they are submitted, as varq size does, and wait at that size: they are locked in. Choosing again, they keep their place in the queue, and choose anew every half hour as long as they wait, as if they were submitted then; nothing does that for a job in Slurm's queue yet. They know their run times, as in the paper, and forecasters do not. They choose among the powers of two, the least and the most, what was asked for and what is free. AVG alone chooses when a job starts: it takes what is free, also by backfilling.",
		"PRED and BIAS predict as package expert extends the paper's predictors to a whole queue: jobs that are smaller and shorter are ahead, the others let a job pass. varq is the blend of varqd, which learns from what happens on the simulated cluster. Its wait is the expected one, with waits above the .95 quantile counted as that quantile. Averse to risk, a job waits for a larger size only if that is expected to save a fifth of its run time. With simulated futures, its wait is the mean of that and of the expected one in 20 simulations of the queue, in which jobs also come; varqd has no such simulations.",
		"OPT knows all run times, and all jobs that will come, in the sizes asked for. So it is best for a job that chooses alone. Where many choose, it need not be: each takes what is best for itself, and others come differently from what it knew.",
		fmt.Sprintf("Each seed has a stretch of %d jobs of its own, after the first %d of the log, which no row is about. Forecasters have learnt from the %d jobs before it, which have the sizes asked for. Where each job is alone, one in four is looked at. Intervals are Student's over the seeds; differences are of the same jobs. Utilisation counts until the last submission; by efficiency, each processor counts S(n)/n, and since the same work comes, it hardly differs as long as the queue does not grow.", stretchJobs, skippedJobs, learningJobs),
		"No constant was fitted. On the first 8,000 jobs of KTH's log it was tried whether another quantile than .95 makes a difference to the expected wait; from .5 to .99 what varq saves is 87 to 89 % of what OPT does, and .95 stayed. Simulated futures were tried there too.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs of each log, and %d days of Downey's machine.", quickJobs, downeyQuickDays))
	}
	return d
}
