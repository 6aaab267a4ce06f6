package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// smithReport compares the outcomes with the paper.
type smithReport struct {
	results
	seeds int
}

// choice is some of the settings: nil and 0 stand for all, but for those of the
// other reading of backfilling.
type choice struct {
	log      string
	order    string
	backfill *sched.Backfill
	share    int
}

// mean returns the mean, over the chosen settings, of what is measured in them
// with each seed.
func (r smithReport) mean(c choice, measure func(s smithSetting, seed uint64) float64) Interval {
	return overSeeds(r.seeds, func(seed uint64) float64 {
		var x []float64
		for _, s := range c.settings() {
			x = append(x, measure(s, seed))
		}
		return mean(x)
	})
}

func (c choice) settings() []smithSetting {
	return slices.DeleteFunc(smithSettings(), func(s smithSetting) bool {
		return c.log != "" && c.log != s.log.name ||
			c.order != "" && c.order != s.policy.order.Name ||
			c.backfill != nil && *c.backfill != s.policy.backfill ||
			c.backfill == nil && s.policy.backfill == keptPlaces ||
			c.share != 0 && c.share != s.share
	})
}

// of returns what a kind of reservation measured in a setting.
func (r smithReport) of(s smithSetting, kind smithKind, seed uint64, measure string) float64 {
	return r.value(s.name(), seed, kind.name+" "+measure)
}

// longer returns by how many per cent waits are longer with reservations of a
// kind than without any.
func (r smithReport) longer(c choice, kind smithKind) Interval {
	return r.mean(c, func(s smithSetting, seed uint64) float64 {
		return more(r.of(s, kind, seed, "wait"), r.of(s, smithNone, seed, "wait"))
	})
}

// level returns the mean of a measure times a factor.
func (r smithReport) level(c choice, kind smithKind, measure string, factor float64) Interval {
	return r.mean(c, func(s smithSetting, seed uint64) float64 { return factor * r.of(s, kind, seed, measure) })
}

// offsetRatio returns by how many per cent the mean offset of some settings is
// more than that of others.
func (r smithReport) offsetRatio(x, y choice, kind smithKind) Interval {
	return overSeeds(r.seeds, func(seed uint64) float64 {
		over := func(c choice) float64 {
			var values []float64
			for _, s := range c.settings() {
				values = append(values, r.of(s, kind, seed, "offset"))
			}
			return mean(values)
		}
		return more(over(x), over(y))
	})
}

// against returns by how many per cent a measure is more with one kind than with
// another, in the mean over the settings.
func (r smithReport) against(c choice, kind, other smithKind, measure string) Interval {
	return r.mean(c, func(s smithSetting, seed uint64) float64 {
		return more(r.of(s, kind, seed, measure), r.of(s, other, seed, measure))
	})
}

var (
	withoutBackfill = sched.NoBackfill
	withBackfill    = sched.Timeline
	keptPlaces      = sched.Conservative
)

// Report implements Study.
func (s Smith) Report(o Options, outcomes []Outcome) Report {
	r := smithReport{resultsOf(outcomes), s.seeds(o)}
	restart, figure := r.restart()
	return Report{
		Name:  "smith",
		Title: "Smith, Foster and Taylor, Scheduling with Advanced Reservations (2000)",
		Tables: []Table{
			r.waits(), r.offsets(), r.reading(), r.utilisation(), r.priority(), r.runTimes(), restart, r.price(),
		},
		Differences: smithDifferences(o),
		Figures:     []Figure{r.waitFigure(), figure, r.priceFigure()},
	}
}

func (r smithReport) waits() Table {
	queue := hardKind(100)
	t := Table{Title: "Section 3.1: how much longer the others wait when some reserve"}
	add := func(name string, paper *float64, c choice) {
		t.Rows = append(t.Rows, Row{Name: name, Unit: "%", Paper: paper, Ours: r.longer(c, queue)})
	}
	add("10 % reserve, no backfilling", paper(13), choice{backfill: &withoutBackfill, share: 10})
	add("20 % reserve, no backfilling", paper(62), choice{backfill: &withoutBackfill, share: 20})
	add("10 % reserve, backfilling", paper(9), choice{backfill: &withBackfill, share: 10})
	add("20 % reserve, backfilling", paper(37), choice{backfill: &withBackfill, share: 20})
	for i := range t.Rows {
		t.Rows[i].Note = "most of it is SDSC's, whose load is above the paper's: see each log"
	}
	for _, log := range smithLogs {
		add("10 % reserve, no backfilling, "+log.name, nil, choice{log: log.name, backfill: &withoutBackfill, share: 10})
		add("20 % reserve, no backfilling, "+log.name, nil, choice{log: log.name, backfill: &withoutBackfill, share: 20})
		add("10 % reserve, backfilling, "+log.name, nil, choice{log: log.name, backfill: &withBackfill, share: 10})
		add("20 % reserve, backfilling, "+log.name, nil, choice{log: log.name, backfill: &withBackfill, share: 20})
	}
	add("all, FCFS", nil, choice{order: "fcfs"})
	add("all, LWF", nil, choice{order: "lwf"})
	t.Rows[len(t.Rows)-1].Note = "the paper has it slightly larger than with FCFS"
	return t
}

func (r smithReport) offsets() Table {
	queue := hardKind(100)
	t := Table{Title: "Section 3.2: how far from the time asked for reservations are granted"}
	add := func(name, unit string, paper *float64, ours Interval) {
		t.Rows = append(t.Rows, Row{Name: name, Unit: unit, Paper: paper, Ours: ours})
	}
	const minutes = 1. / 60
	add("10 % reserve", "min", paper(211), r.level(choice{share: 10}, queue, "offset", minutes))
	add("20 % reserve", "min", paper(278), r.level(choice{share: 20}, queue, "offset", minutes))
	for _, log := range smithLogs {
		add("10 % reserve, "+log.name, "min", nil, r.level(choice{log: log.name, share: 10}, queue, "offset", minutes))
		add("20 % reserve, "+log.name, "min", nil, r.level(choice{log: log.name, share: 20}, queue, "offset", minutes))
	}
	add("20 % over 10 %", "% more", paper(32), r.offsetRatio(choice{share: 20}, choice{share: 10}, queue))
	add("FCFS over LWF", "% more", paper(49), r.offsetRatio(choice{order: "fcfs"}, choice{order: "lwf"}, queue))
	add("backfilling over none", "% more", paper(32), r.offsetRatio(choice{backfill: &withBackfill}, choice{backfill: &withoutBackfill}, queue))
	t.Rows[len(t.Rows)-1].Note = "see the other reading"
	return t
}

// reading is about backfilling in which a job keeps the place it has got even if
// one comes that is ahead of it in the order.
func (r smithReport) reading() Table {
	queue := hardKind(100)
	kept := choice{backfill: &keptPlaces}
	t := Table{Title: "Another reading of the paper's backfilling: jobs keep their places in the timeline"}
	for i, share := range smithShares {
		c := choice{backfill: &keptPlaces, share: share}
		t.Rows = append(t.Rows, Row{
			Name: fmt.Sprintf("%d %% reserve: the others' wait", share), Unit: "% more",
			Paper: paper([]float64{9, 37}[i]), Ours: r.longer(c, queue),
		})
	}
	for _, order := range []string{sched.FCFS().Name, sched.LWF().Name} {
		t.Rows = append(t.Rows, Row{
			Name: "the others' wait, " + order, Unit: "% more", Ours: r.longer(choice{backfill: &keptPlaces, order: order}, queue),
		})
	}
	t.Rows = append(t.Rows, Row{
		Name: "offset, backfilling over none", Unit: "% more", Paper: paper(32),
		Ours: r.offsetRatio(kept, choice{backfill: &withoutBackfill}, queue),
		Note: "least work first gains nothing by its order here, so that reservations find no shorter queue",
	})
	return t
}

func (r smithReport) utilisation() Table {
	t := Table{Title: "Section 3.1: utilisation between the first submission and the last"}
	for _, log := range smithLogs {
		t.Rows = append(t.Rows, Row{Name: "none reserve, " + log.name, Unit: "%", Ours: r.mean(choice{log: log.name},
			func(s smithSetting, seed uint64) float64 { return 100 * r.of(s, smithNone, seed, "utilisation") })})
		for _, share := range smithShares {
			t.Rows = append(t.Rows, Row{
				Name: fmt.Sprintf("%d %% reserve, %s", share, log.name), Unit: "percentage points more", Paper: paper(0),
				Ours: r.mean(choice{log: log.name, share: share}, func(s smithSetting, seed uint64) float64 {
					return 100 * (r.of(s, hardKind(100), seed, "utilisation") - r.of(s, smithNone, seed, "utilisation"))
				}),
			})
		}
	}
	return t
}

func (r smithReport) priority() Table {
	t := Table{Title: "Section 3.3: when a reservation may delay a part of the queue"}
	all := hardKind(100)
	for _, row := range []struct {
		protected    int
		wait, offset float64
	}{{50, 7, -39}, {0, 22, -89}} {
		kind := hardKind(row.protected)
		name := fmt.Sprintf("%d %% of the queue protected, not 100 %%", row.protected)
		t.Rows = append(t.Rows,
			Row{Name: name + ": wait", Unit: "% more", Paper: paper(row.wait), Ours: r.against(choice{}, kind, all, "wait")},
			Row{Name: name + ": offset", Unit: "% more", Paper: paper(row.offset), Ours: r.against(choice{}, kind, all, "offset")})
		for _, log := range smithLogs {
			t.Rows = append(t.Rows,
				Row{Name: name + ": wait, " + log.name, Unit: "% more", Ours: r.against(choice{log: log.name}, kind, all, "wait")},
				Row{Name: name + ": offset, " + log.name, Unit: "% more", Ours: r.against(choice{log: log.name}, kind, all, "offset")})
		}
	}
	return t
}

// restart compares jobs that can be restarted with jobs that cannot, at those a
// that serve waits and offsets best, in the mean over everything.
func (r smithReport) restart() (Table, Figure) {
	cannot := hardKind(100)
	figure := Figure{Name: "restart", Title: "Jobs that can be restarted", X: "a, in the price a N Tp + (a-1) N Tf of stopping a job", Y: "% more than if they cannot be"}
	t := Table{Title: "Section 4.3: when running jobs can be stopped and restarted"}
	for _, m := range []struct {
		measure string
		paper   float64
	}{{"wait", -7}, {"offset", -55}} {
		line := Series{Name: m.measure}
		best, least := 0, math.Inf(1)
		for _, a := range smithAs {
			change := r.against(choice{}, restartKind(a), cannot, m.measure)
			if change.N == 0 {
				continue
			}
			line.X, line.Y = append(line.X, float64(a)/10), append(line.Y, change.Mean)
			if change.Mean < least {
				best, least = a, change.Mean
			}
		}
		figure.Series = append(figure.Series, line)
		t.Rows = append(t.Rows, Row{
			Name: m.measure, Unit: "% more", Paper: paper(m.paper), Ours: r.against(choice{}, restartKind(best), cannot, m.measure),
			Note: fmt.Sprintf("best with a = %.1f, b = %.1f; the paper: |a| > |b|", float64(best)/10, float64(best)/10-1),
		})
		if m.measure == "wait" {
			t.Rows = append(t.Rows, Row{
				Name: "utilisation", Unit: "percentage points more", Paper: paper(0),
				Ours: r.mean(choice{}, func(s smithSetting, seed uint64) float64 {
					useful := r.of(s, restartKind(best), seed, "utilisation") - r.of(s, restartKind(best), seed, "lost")
					return 100 * (useful - r.of(s, cannot, seed, "utilisation"))
				}),
				Note: "without the lost work of stopped jobs",
			})
		}
	}
	return t, figure
}

// price puts hard reservations beside VARQ's, of the same jobs.
func (r smithReport) price() Table {
	t := Table{Title: "Beyond the paper: hard reservations beside VARQ's, of the same jobs"}
	for _, share := range smithShares {
		c := choice{share: share}
		for _, kind := range priceKinds() {
			add := func(what, unit string, ours Interval) {
				if ours.N > 0 {
					t.Rows = append(t.Rows, Row{Name: fmt.Sprintf("%d %%, %s: %s", share, kind.name, what), Unit: unit, Ours: ours})
				}
			}
			add("the others' wait", "% more", r.longer(c, kind))
			add("utilisation", "percentage points more", r.mean(c, func(s smithSetting, seed uint64) float64 {
				return 100 * (r.of(s, kind, seed, "utilisation") - r.of(s, smithNone, seed, "utilisation"))
			}))
			add("offset", "min", r.level(c, kind, "offset", 1./60))
			add("got the time asked for", "%", r.level(c, kind, "exact", 100))
			add("were promised it", "%", r.level(c, kind, "granted", 100))
			add("probability forecast", "%", r.level(c, kind, "prob", 100))
			add("kept", "%", r.level(c, kind, "kept", 100))
			add("cost", "of the work's own", r.level(c, kind, "cost", 1))
		}
	}
	return t
}

// priceKinds are the kinds of reservations whose price is compared.
func priceKinds() []smithKind {
	kinds := []smithKind{hardKind(100), hardKind(0)}
	for _, p := range smithProbs {
		kinds = append(kinds, varqKind(p))
	}
	return kinds
}

// waitFigure shows the paper's waits and ours.
func (r smithReport) waitFigure() Figure {
	f := Figure{Name: "waits", Title: "How much longer the others wait when some reserve", X: "jobs that reserve", Y: "% longer"}
	f.Series = []Series{{Name: "paper", Y: []float64{13, 62, 9, 37}}, {Name: "ours"}}
	for _, policy := range []struct {
		name     string
		backfill sched.Backfill
	}{{"no backfilling", withoutBackfill}, {"backfilling", withBackfill}} {
		for _, share := range smithShares {
			f.Labels = append(f.Labels, fmt.Sprintf("%d %%, %s", share, policy.name))
			f.Series[1].Y = append(f.Series[1].Y, r.longer(choice{backfill: &policy.backfill, share: share}, hardKind(100)).Mean)
		}
	}
	return f
}

// priceFigure shows what each kind of reservation does to the others' waits.
func (r smithReport) priceFigure() Figure {
	f := Figure{Name: "price", Title: "How much longer the others wait", X: "jobs that reserve", Y: "% longer"}
	for _, kind := range priceKinds() {
		s := Series{Name: kind.name}
		for _, share := range smithShares {
			s.Y = append(s.Y, r.longer(choice{share: share}, kind).Mean)
		}
		f.Series = append(f.Series, s)
	}
	for _, share := range smithShares {
		f.Labels = append(f.Labels, fmt.Sprintf("%d %%", share))
	}
	return f
}

func smithDifferences(o Options) []string {
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
		d = append(d, fmt.Sprintf("Quick: only the first %d jobs of each log.", smithQuickJobs))
	}
	return d
}
