package flows

import (
	"fmt"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/flows/graph"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	report := study.Report{
		Name:        "flows",
		Title:       "when all jobs of a flow have ended",
		Differences: differences(o),
		Figures:     []study.Figure{figure(r)},
	}
	for _, log := range logs {
		report.Tables = append(report.Tables, table(r, log))
	}
	return report
}

// covered returns the per cent of the flows of a shape that have ended by a quantile.
func covered(log, kind string, m graph.Method, level float64) study.Share {
	return study.Of(log, within(kind, m, level)).PartOf(study.Of(log, number(kind))).ShareOf(100)
}

func table(r study.Results, log string) study.Table {
	t := study.Table{Title: log}
	row := func(name, unit string, ours study.Quantity, note string) {
		t.Rows = append(t.Rows, study.Row{Name: name, Unit: unit, Ours: r.Interval(ours), Note: note})
	}
	all := r.Total(study.Of(log, number(everyShape)))
	for m := range graph.Methods {
		for i, level := range graph.Levels {
			note := ""
			if i == 0 {
				note = fmt.Sprintf("of %d flows", all)
			}
			row(fmt.Sprintf("%s: ended by the %v quantile", methods[m], level), "% of the flows", covered(log, everyShape, m, level), note)
		}
	}
	for m := range graph.Sum {
		for _, level := range []float64{.5, .9} {
			part := study.Of(log, loss(m, level)).PartOf(study.Of(log, loss(graph.Sum, level)))
			row(fmt.Sprintf("%s: loss at %v", methods[m], level), "% of the sum's", part, "")
		}
	}
	for _, s := range shapes {
		for _, level := range []float64{.5, .9} {
			row(fmt.Sprintf("%s, %s: ended by the %v quantile", methods[graph.Told], s.name, level), "% of the flows", covered(log, s.name, graph.Told, level), fmt.Sprintf("of %d", r.Total(study.Of(log, number(s.name)))))
		}
	}
	for _, level := range graph.Levels {
		n, in := study.Of(log, promised(level)), study.Of(log, kept(level))
		row(fmt.Sprintf("%v promised", level), "% of the flows", n.PartOf(study.Of(log, number(everyShape))).ShareOf(100), "")
		row(fmt.Sprintf("%v kept", level), "% of the promised", in.PartOf(n).ShareOf(100), fmt.Sprintf("%d of %d", r.Total(in), r.Total(n)))
	}
	return t
}

// figure shows how many flows have ended by their median.
func figure(r study.Results) study.Figure {
	f := study.Figure{Name: "medians", Title: "Flows", X: "log", Y: "ended by the median, % of the flows", Labels: logs}
	for m := range graph.Methods {
		series := study.Series{Name: methods[m]}
		for _, log := range logs {
			series.Y = append(series.Y, r.Interval(covered(log, everyShape, m, .5)).Mean)
		}
		f.Series = append(f.Series, series)
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"No paper has numbers of this. The logs do not tell which jobs waited for which. The jobs of a flow are jobs that a user of the log submitted one after another, once more, as a chain, a fan-out, a diamond or a graph in which each waits for one to three of the six before it. All wait until others have ended, whatever comes of these.",
		"The schedule is first come, first served, with EASY backfilling. A job has its place in the queue from when those that it waits for have ended. The flows' work is 5 % of the machine's, beside all jobs of the log. They begin after the first quarter of the time, and not in the last tenth. The seeds draw them.",
		"Courses are drawn as varqd draws them, when the flow is submitted. Varqd corrects them by how often their starts of jobs that waited for others came true, by how many waits there were until then; here it learns from three such jobs of each flow. The sum adds quantiles of single jobs along the path where that is longest, as one would by hand.",
		"A flow is wanted to have ended in .2 to 2 times the limits on its longest path, and is promised that with the highest of the probabilities that the forecast reaches. varqd promises less: it counts the risk of being late as often as in a promise about the job for which the flow waits most.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only %d jobs of each log.", quickJobs))
	}
	return d
}
