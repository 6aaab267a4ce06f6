package checkpoints

import (
	"fmt"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	report := study.Report{
		Name:        "checkpoints",
		Title:       "LANL's failures replayed under SDSC-SP2's jobs: Oliner et al., Probabilistic QoS Guarantees for Supercomputing Systems (2005), section 3.4",
		Differences: differences(o),
	}
	for _, c := range allCells() {
		report.Tables = append(report.Tables, c.table(r))
	}
	for _, interval := range []int64{3600, 600} {
		report.Figures = append(report.Figures, figure(r, interval))
	}
	return report
}

// table has what each rule costs in lost work and checkpoints, and then by how much varq's costs
// less than each other.
func (c cell) table(r study.Results) study.Table {
	t := study.Table{Title: fmt.Sprintf("System %s: a checkpoint takes %d s, with a request every %d s of work", c.system, c.cost, c.interval)}
	for _, rule := range allRules() {
		row := study.Row{Name: rule.name, Unit: "% of the work", Ours: study.Percent(c.waste(r, rule.name), c.work(r))}
		if overhead := study.Percent(c.weeks(r, "overhead %d "+rule.name), c.work(r)); overhead.N > 0 {
			row.Note = fmt.Sprintf("%.2f spent, %.2f lost", overhead.Mean, row.Ours.Mean-overhead.Mean)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, rule := range allRules() {
		if rule.name == lookAhead {
			continue
		}
		more := study.Percent(study.Difference(c.waste(r, rule.name), c.waste(r, lookAhead)), c.waste(r, rule.name))
		row := study.Row{Name: "varq's against " + rule.name, Unit: "% less", Ours: more}
		switch {
		case more.N < 2:
		case more.Low > 0:
			row.Note = "less"
		case more.High < 0:
			row.Note = "more"
		default:
			row.Note = "no difference that is sure"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c cell) weeks(r study.Results, format string) []float64 { return r.Weeks(c.name(), format) }

func (c cell) work(r study.Results) []float64 { return c.weeks(r, "work %d") }

// waste returns what the rule costs in each week.
func (c cell) waste(r study.Results, rule string) []float64 {
	overhead, lost := c.weeks(r, "overhead %d "+rule), c.weeks(r, "lost %d "+rule)
	for n := range lost {
		lost[n] += overhead[n]
	}
	return lost
}

// figure shows what the rules cost by the cost of a checkpoint.
func figure(r study.Results, interval int64) study.Figure {
	f := study.Figure{
		Name: fmt.Sprintf("waste-%d", interval), Title: fmt.Sprintf("Lost work and checkpoints, with a request every %d s", interval),
		X: "cost of a checkpoint, s", Y: "% of the work",
	}
	for _, rule := range allRules() {
		f.Series = append(f.Series, study.Series{Name: rule.name})
	}
	for _, c := range allCells() {
		if c.interval != interval || c.system != failingSystem {
			continue
		}
		f.Labels = append(f.Labels, fmt.Sprint(c.cost))
		for i := range f.Series {
			f.Series[i].Y = append(f.Series[i].Y, study.Percent(c.waste(r, f.Series[i].Name), c.work(r)).Mean)
		}
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"The paper compares no rules: it has a=0 to a=1 of an oracle's detections, and the failures of an AIX cluster that were never public. So no row has a number of the paper.",
		"Failures are those of Los Alamos' system 20, of 512 nodes, and for some cells of 18 and 19, of 1024 (LA-UR-05-7318); a node is down until it was fixed. Jobs are those of SDSC-SP2 that ran for an hour or more, on as many nodes and with the gaps between their starts that they had, from the time on at which 60 % of that of the failures has passed. Where in their log they begin, and on which nodes that are up each runs, is random: each seed has other ones.",
		"A job that fails goes on at once from its last checkpoint, on another node instead of the one that failed. It does not delay others, nor do checkpoints.",
		"All rules know the past only. \"Even\" rules, all but those that say otherwise, have the rate of all failures so far, the same for each node. varq's has the risk of the job's nodes together as varqd forecasts it (varq-lab study faults tells how well), and expects a job's run to go on as those that ended before did when as much of their limits was used.",
		"SCR's variables are set anew at each request, the gap to Daly's interval and the percentage to what checkpoints at Daly's interval come to: better than a site can, which sets them once. SCR's first checkpoint, by which it measures the cost, is left out.",
		"\"Marginal\" checkpoints if rate T (T+I)/2 >= C, T being the work at risk. \"Told varq's risk\" says that a rule is given the rates that varq's has: what is left then is the looking ahead.",
		"Intervals are of a bootstrap over the weeks in which jobs started, all seeds together: weeks are taken as independent of one another.",
		"A first run on system 20, in which varq's had one rate for each node and all of the past and took the job's limit for its end, showed how far the rate of failures had fallen by then; a second had rates with half-lives. No number of varq's was chosen by these tables. Nothing was tried on systems 18 and 19 before.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only jobs of the first %d weeks.", quickWeeks))
	}
	return d
}
