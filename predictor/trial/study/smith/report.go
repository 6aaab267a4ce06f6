package smith

import (
	"fmt"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
)

// choice chooses some of the settings. A zero field allows every value, except that a nil
// backfill does not allow keptPlaces, the other reading of backfilling.
type choice struct {
	log      string
	order    string
	backfill *sched.Backfill
	share    int
}

var (
	withoutBackfill = sched.NoBackfill
	withBackfill    = sched.Timeline
	keptPlaces      = sched.Conservative
)

func (c choice) settings() []setting {
	return slices.DeleteFunc(allSettings(), func(s setting) bool {
		return c.log != "" && c.log != s.log.name ||
			c.order != "" && c.order != s.policy.order.Name ||
			c.backfill != nil && *c.backfill != s.policy.backfill ||
			c.backfill == nil && s.policy.backfill == keptPlaces ||
			c.share != 0 && c.share != s.share
	})
}

// mean returns the mean of a measure over the settings.
func (c choice) mean(of func(setting) study.Measure) study.Measure {
	settings := c.settings()
	return func(r study.Results, seed uint64) float64 {
		var x []float64
		for _, s := range settings {
			x = append(x, of(s)(r, seed))
		}
		return study.Mean(x)
	}
}

// of returns the measure of a value with a kind of reservations.
func (s setting) of(kind kind, value string) study.Measure {
	return study.Of(s.name(), kind.name+" "+value)
}

// level returns the mean of a value times a factor.
func (c choice) level(kind kind, value string, factor float64) study.Measure {
	return c.mean(func(s setting) study.Measure { return s.of(kind, value).Times(factor) })
}

// against returns the per cent by which a value is greater with kind than with other, in
// the mean over the settings.
func (c choice) against(kind, other kind, value string) study.Measure {
	return c.mean(func(s setting) study.Measure { return s.of(kind, value).Over(s.of(other, value)) })
}

// longer returns the per cent by which the others wait longer than if no job reserves.
func (c choice) longer(kind kind) study.Measure { return c.against(kind, noReservations, "wait") }

// offset returns the mean distance of strict reservations from the time asked for, in
// minutes.
func (c choice) offset() study.Measure { return c.level(strict, "offset", 1./60) }

// offsetOver returns the per cent by which the offset is greater than in other settings.
func (c choice) offsetOver(other choice) study.Measure {
	return c.level(strict, "offset", 1).Over(other.level(strict, "offset", 1))
}

// busier returns the percentage points by which utilisation is greater than if no job
// reserves.
func (c choice) busier(kind kind) study.Measure {
	return c.mean(func(s setting) study.Measure {
		return s.of(kind, "utilisation").Minus(s.of(noReservations, "utilisation")).Times(100)
	})
}

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	stopped, restartFigure := restart(r)
	return study.Report{
		Name:  "smith",
		Title: "Smith, Foster and Taylor, Scheduling with Advanced Reservations (2000)",
		Tables: []study.Table{
			r.Table("Section 3.1: how much longer the others wait when some reserve", waitLines()),
			r.Table("Section 3.2: how far from the time asked for reservations are granted", offsetLines()),
			r.Table("Another reading of the paper's backfilling: jobs keep their places in the timeline", readingLines()),
			r.Table("Section 3.1: utilisation between the first submission and the last", utilisationLines()),
			r.Table("Section 3.3: when a reservation may delay a part of the queue", priorityLines()),
			r.Table("Section 4.1: predicted run times, mean absolute error", r.Known(runTimeLines())),
			r.Table("Section 4.3: when running jobs can be stopped and restarted", stopped),
			r.Table("Beyond the paper: hard reservations beside VARQ's, of the same jobs", r.Known(priceLines())),
		},
		Differences: differences(o),
		Figures:     []study.Figure{waitFigure(r), restartFigure, priceFigure(r)},
	}
}

// strict reservations may not delay any job of the queue.
var strict = hardKind(100)

// paperWait is one of the numbers that section 3.1 gives for waits.
type paperWait struct {
	share    int // per cent of the jobs that reserve
	backfill *sched.Backfill
	policy   string
	longer   float64 // per cent by which the others wait longer
}

var paperWaits = []paperWait{
	{10, &withoutBackfill, "no backfilling", 13},
	{20, &withoutBackfill, "no backfilling", 62},
	{10, &withBackfill, "backfilling", 9},
	{20, &withBackfill, "backfilling", 37},
}

// ours returns our measure of the paper's number, for one log or, if log is empty, for all.
func (w paperWait) ours(log string) study.Measure {
	return choice{log: log, backfill: w.backfill, share: w.share}.longer(strict)
}

func waitLines() []study.Line {
	var lines []study.Line
	for _, w := range paperWaits {
		lines = append(lines, study.Line{
			Name: fmt.Sprintf("%d %% reserve, %s", w.share, w.policy), Unit: "%", Paper: study.Paper(w.longer), Ours: w.ours(""),
			Note: "most of it is SDSC's, whose load is above the paper's: see each log",
		})
	}
	for _, log := range jobLogs {
		for _, w := range paperWaits {
			lines = append(lines, study.Line{
				Name: fmt.Sprintf("%d %% reserve, %s, %s", w.share, w.policy, log.name), Unit: "%", Ours: w.ours(log.name),
			})
		}
	}
	return append(lines,
		study.Line{Name: "all, FCFS", Unit: "%", Ours: choice{order: "fcfs"}.longer(strict)},
		study.Line{Name: "all, LWF", Unit: "%", Ours: choice{order: "lwf"}.longer(strict), Note: "the paper has it slightly larger than with FCFS"})
}

func offsetLines() []study.Line {
	lines := []study.Line{
		{Name: "10 % reserve", Unit: "min", Paper: study.Paper(211), Ours: choice{share: 10}.offset()},
		{Name: "20 % reserve", Unit: "min", Paper: study.Paper(278), Ours: choice{share: 20}.offset()},
	}
	for _, log := range jobLogs {
		for _, share := range reservingShares {
			lines = append(lines, study.Line{
				Name: fmt.Sprintf("%d %% reserve, %s", share, log.name), Unit: "min",
				Ours: choice{log: log.name, share: share}.offset(),
			})
		}
	}
	return append(lines,
		study.Line{Name: "20 % over 10 %", Unit: "% more", Paper: study.Paper(32), Ours: choice{share: 20}.offsetOver(choice{share: 10})},
		study.Line{Name: "FCFS over LWF", Unit: "% more", Paper: study.Paper(49), Ours: choice{order: "fcfs"}.offsetOver(choice{order: "lwf"})},
		study.Line{Name: "backfilling over none", Unit: "% more", Paper: study.Paper(32), Ours: choice{backfill: &withBackfill}.offsetOver(choice{backfill: &withoutBackfill}), Note: "see the other reading"})
}

// readingLines returns rows for the other reading of backfilling: a job keeps its
// place in the timeline even if a job arrives that is ahead of it in the order.
func readingLines() []study.Line {
	kept := func(order string, share int) choice {
		return choice{backfill: &keptPlaces, order: order, share: share}
	}
	return []study.Line{
		{Name: "10 % reserve: the others' wait", Unit: "% more", Paper: study.Paper(9), Ours: kept("", 10).longer(strict)},
		{Name: "20 % reserve: the others' wait", Unit: "% more", Paper: study.Paper(37), Ours: kept("", 20).longer(strict)},
		{Name: "the others' wait, fcfs", Unit: "% more", Ours: kept("fcfs", 0).longer(strict)},
		{Name: "the others' wait, lwf", Unit: "% more", Ours: kept("lwf", 0).longer(strict)},
		{
			Name: "offset, backfilling over none", Unit: "% more", Paper: study.Paper(32),
			Ours: kept("", 0).offsetOver(choice{backfill: &withoutBackfill}),
			Note: "least work first gains nothing by its order here, so that reservations find no shorter queue",
		},
	}
}

func utilisationLines() []study.Line {
	var lines []study.Line
	for _, log := range jobLogs {
		lines = append(lines, study.Line{
			Name: "none reserve, " + log.name, Unit: "%",
			Ours: choice{log: log.name}.level(noReservations, "utilisation", 100).ShareOf(100),
		})
		for _, share := range reservingShares {
			lines = append(lines, study.Line{
				Name: fmt.Sprintf("%d %% reserve, %s", share, log.name), Unit: "percentage points more", Paper: study.Paper(0),
				Ours: choice{log: log.name, share: share}.busier(strict),
			})
		}
	}
	return lines
}

func priorityLines() []study.Line {
	var lines []study.Line
	for _, part := range []struct {
		protected    int
		wait, offset float64
	}{{50, 7, -39}, {0, 22, -89}} {
		name := fmt.Sprintf("%d %% of the queue protected, not 100 %%: ", part.protected)
		add := func(log, suffix string, wait, offset *float64) {
			c, kind := choice{log: log}, hardKind(part.protected)
			lines = append(lines,
				study.Line{Name: name + "wait" + suffix, Unit: "% more", Paper: wait, Ours: c.against(kind, strict, "wait")},
				study.Line{Name: name + "offset" + suffix, Unit: "% more", Paper: offset, Ours: c.against(kind, strict, "offset")})
		}
		add("", "", study.Paper(part.wait), study.Paper(part.offset))
		for _, log := range jobLogs {
			add(log.name, ", "+log.name, nil, nil)
		}
	}
	return lines
}

// restart compares jobs that can be restarted with jobs that cannot. It uses the a
// with the least mean wait, and the a with the least mean offset, over all settings.
func restart(r study.Results) ([]study.Line, study.Figure) {
	all := choice{}
	figure := study.Figure{Name: "restart", Title: "Jobs that can be restarted", X: "a, in the price a N Tp + (a-1) N Tf of stopping a job", Y: "% more than if they cannot be"}
	// best returns the a, in tenths, with which the value is least.
	best := func(value string) int {
		series := study.Series{Name: value}
		best, least := 0, math.Inf(1)
		for _, a := range restartAs {
			change := r.Interval(all.against(restartKind(a), strict, value))
			if change.N == 0 {
				continue
			}
			series.X, series.Y = append(series.X, float64(a)/10), append(series.Y, change.Mean)
			if change.Mean < least {
				best, least = a, change.Mean
			}
		}
		figure.Series = append(figure.Series, series)
		return best
	}
	compared := func(value string, number float64, a int) study.Line {
		return study.Line{
			Name: value, Unit: "% more", Paper: study.Paper(number), Ours: all.against(restartKind(a), strict, value),
			Note: fmt.Sprintf("best with a = %.1f, b = %.1f; the paper: |a| > |b|", float64(a)/10, float64(a)/10-1),
		}
	}
	forWait, forOffset := best("wait"), best("offset")
	useful := all.mean(func(s setting) study.Measure {
		kind := restartKind(forWait)
		return s.of(kind, "utilisation").Minus(s.of(kind, "lost")).Minus(s.of(strict, "utilisation")).Times(100)
	})
	return []study.Line{
		compared("wait", -7, forWait),
		{Name: "utilisation", Unit: "percentage points more", Paper: study.Paper(0), Ours: useful, Note: "without the lost work of stopped jobs"},
		compared("offset", -55, forOffset),
	}, figure
}

// priceLines compares hard reservations with VARQ's for the same jobs.
func priceLines() []study.Line {
	var lines []study.Line
	for _, share := range reservingShares {
		c := choice{share: share}
		for _, kind := range priceKinds() {
			for _, l := range []study.Line{
				{Name: "the others' wait", Unit: "% more", Ours: c.longer(kind)},
				{Name: "utilisation", Unit: "percentage points more", Ours: c.busier(kind)},
				{Name: "offset", Unit: "min", Ours: c.level(kind, "offset", 1./60)},
				{Name: "got the time asked for", Unit: "%", Ours: c.level(kind, "exact", 100).ShareOf(100)},
				{Name: "were promised it", Unit: "%", Ours: c.level(kind, "granted", 100).ShareOf(100)},
				{Name: "probability forecast", Unit: "%", Ours: c.level(kind, "prob", 100).ShareOf(100)},
				{Name: "kept", Unit: "%", Ours: c.level(kind, "kept", 100).ShareOf(100)},
				{Name: "cost", Unit: "of the work's own", Ours: c.level(kind, "cost", 1)},
			} {
				l.Name = fmt.Sprintf("%d %%, %s: %s", share, kind.name, l.Name)
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// priceKinds are the kinds of reservations whose price is compared.
func priceKinds() []kind {
	kinds := []kind{strict, hardKind(0)}
	for _, p := range askedProbs {
		kinds = append(kinds, varqKind(p))
	}
	return kinds
}

// waitFigure shows the paper's waits and ours.
func waitFigure(r study.Results) study.Figure {
	f := study.Figure{Name: "waits", Title: "How much longer the others wait when some reserve", X: "jobs that reserve", Y: "% longer"}
	f.Series = []study.Series{{Name: "paper"}, {Name: "ours"}}
	for _, w := range paperWaits {
		f.Labels = append(f.Labels, fmt.Sprintf("%d %%, %s", w.share, w.policy))
		f.Series[0].Y = append(f.Series[0].Y, w.longer)
		f.Series[1].Y = append(f.Series[1].Y, r.Interval(w.ours("")).Mean)
	}
	return f
}

// priceFigure shows how each kind of reservations changes the others' waits.
func priceFigure(r study.Results) study.Figure {
	f := study.Figure{Name: "price", Title: "How much longer the others wait", X: "jobs that reserve", Y: "% longer"}
	for _, kind := range priceKinds() {
		s := study.Series{Name: kind.name}
		for _, share := range reservingShares {
			s.Y = append(s.Y, r.Interval(choice{share: share}.longer(kind)).Mean)
		}
		f.Series = append(f.Series, s)
	}
	for _, share := range reservingShares {
		f.Labels = append(f.Labels, fmt.Sprintf("%d %%", share))
	}
	return f
}

func differences(o study.Options) []string {
	d := []string{
		"The log of Argonne's SP2 was never published, and of the Paragon only 1996 is replayed: means are over two workloads, the paper's over four; its sections 3.3 and 4.3 are about Argonne's alone.",
		"CTC: the cleaned log has 77,205 jobs that ran, the paper's 79,302. They run on the 512 nodes of the paper's Table 1, of which the log's header says that 338 were for batch jobs; the load is 55 %.",
		"SDSC: the cleaned log has 18,441 batch jobs with a mean run time of 246 min, the paper's workload 22,337 with 166 min. Interactive sessions, which had neither a queue nor a limit, are left out. The load is 74 % of 400 nodes, above the 70 % that the paper calls the highest of its workloads; waits and offsets grow steeply there.",
		"SDSC's log has no limits. A job's maximum run time is that of its queue: 1, 4, 12 or 48 hours by the queue's name, and its own run time where it was let run for longer. Taking the longest run of each queue instead, up to 124 hours because of single jobs, would let one short job reserve for days, and the machine stand idle.",
		"Backfilling: whenever something changes, places in the timeline are found anew in the order of the queue, as the paper describes it. In the other reading a place once given is kept.",
		"Jobs that can be restarted are planned with run times predicted from similar jobs by a fixed list of templates, where the paper's authors had searched the best for each log. The a of each row is the one that is best in the mean over everything.",
		"Waits are those of the jobs that never reserve, the same ones with and without reservations. The paper does not say whether it compares the same jobs.",
		"The means are those of every combination of log, order, backfilling and share; confidence intervals are over the random choice of the jobs that reserve, on the same logs.",
		"VARQ's reservations are asked for with deadlines every two hours, and so as far ahead in the mean as the hard ones; what they were not promised joins the queue. A plan is not made anew until its job is submitted.",
	}
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs of each log.", quickJobs))
	}
	return d
}
