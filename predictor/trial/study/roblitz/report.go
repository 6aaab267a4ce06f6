package roblitz

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
)

// The paper's numbers.
var (
	// paperBooked are the successful requests of Figure 7 (section 4.2).
	paperBooked = map[string]float64{byStatic: 181, byHistory: 184, byLoad: 185}
	// paperWaits are the seconds that jobs wait on average, by book-ahead time (section 4.3).
	paperWaits = map[int]float64{0: 1200, 2: 1183, 4: 1906, 6: 1871, 12: 2042, 24: 4130}
	// paperWait is the same without reservations.
	paperWait = 700.
)

// Report implements study.Study.
func (s Study) Report(o study.Options, outcomes []study.Outcome) study.Report {
	r := study.ResultsOf(outcomes, s.seeds(o))
	return study.Report{
		Name:  "roblitz",
		Title: "Röblitz, Schintke and Wendler, Elastic Grid Reservations with User-Defined Optimization Policies (2005)",
		Tables: []study.Table{
			r.Table("Jobs without reservations (section 4)", withoutLines()),
			r.Table(fmt.Sprintf("Successful requests of %d, book-ahead 2 h, range 10 h (section 4.2)", allRequests), r.SingleRuns(successLines())),
			r.Table("How requests succeed and fail, book-ahead 2 h, range 10 h (Figure 7)", efficiencyLines()),
			r.Table("Successful requests, load (Figure 6)", flexibilityLines()),
			r.Table("Wait of the other jobs, load, range 30 h (section 4.3)", r.SingleRuns(impactLines())),
			r.Table("Jobs that wait longer than without reservations, load, range 30 h (Figure 8)", delayLines()),
			r.Table("Beyond the paper: varq's probability as success rate, and as the site's rule", beyondLines()),
			r.Table("Other readings of \"sound batch-jobs\"", readingLines()),
		},
		Differences: differences(o),
		Figures: []study.Figure{
			figure6(r, "figure-6", "Successful requests (Figure 6)", func(s setting) setting { return s }),
			figure6(r, "figure-6-elastic", "Successful requests, half to twice the processors", setting.onRange),
			figure7(r),
			figure8(r),
		},
	}
}

func withoutLines() []study.Line {
	lines := []study.Line{{Name: "wait, EASY backfilling", Unit: "s", Paper: study.Paper(paperWait), Ours: setting{backfill: sched.EASY}.of("wait"), Note: "of all jobs"}}
	for _, b := range []sched.Backfill{sched.Conservative, sched.NoBackfill} {
		name := "wait, conservative backfilling"
		if b == sched.NoBackfill {
			name = "wait, no backfilling"
		}
		lines = append(lines, study.Line{Name: name, Unit: "s", Ours: setting{backfill: b}.of("wait")})
	}
	easy := setting{backfill: sched.EASY}
	return append(lines,
		study.Line{Name: "from the first submission to the last", Unit: "days", Paper: study.Paper(14), Ours: easy.of("days"), Note: "the paper says \"ca. 2 weeks\""},
		study.Line{Name: "of the machine that they are", Unit: "%", Ours: easy.of("load").Times(100).ShareOf(100)})
}

func successLines() []study.Line {
	var lines []study.Line
	for _, method := range []string{byStatic, byHistory, byLoad} {
		lines = append(lines, study.Line{Name: method, Paper: study.Paper(paperBooked[method]), Ours: inFigure7(method).of("booked").ShareOf(allRequests)})
	}
	return lines
}

// part returns the measure of one value as per cent of the sum of others.
func (s setting) part(value string, of ...string) study.Measure {
	return func(r study.Results, seed uint64) float64 {
		whole := 0.
		for _, v := range of {
			whole += s.of(v)(r, seed)
		}
		return s.of(value).PartOf(func(study.Results, uint64) float64 { return whole })(r, seed)
	}
}

func efficiencyLines() []study.Line {
	var lines []study.Line
	add := func(name, unit string, number *float64, ours study.Quantity, note string) {
		lines = append(lines, study.Line{Name: name, Unit: unit, Paper: number, Ours: ours, Note: note})
	}
	for _, method := range []string{byStatic, byHistory, byLoad} {
		s := inFigure7(method)
		var vain, filtered *float64
		note := ""
		switch method {
		case byStatic, byLoad:
			vain = study.Paper(0)
			note = "\"both methods do only require one reservation try\""
		case byHistory:
			filtered = study.Paper(0)
		}
		add(method+", successful: slots with too low a success rate", "% of the candidates", filtered,
			study.Measure(func(r study.Results, seed uint64) float64 { return 100 - s.part("probable", "candidates")(r, seed) }).ShareOf(100), "")
		add(method+", successful: tried in vain", "slots a request", vain, study.Measure(func(r study.Results, seed uint64) float64 {
			return s.of("by workload")(r, seed) + s.of("by conflict")(r, seed)
		}), note)
		if method == byHistory {
			add(method+", successful: refused because of the workload", "% of the candidates", study.Paper(15), s.part("by workload", "candidates").ShareOf(100), "\"quite a few (approx. 15%)\"")
		}
		remain := map[string]float64{byStatic: 20, byLoad: 0}
		refused := map[string]float64{byStatic: 75, byHistory: 100}
		number := func(of map[string]float64) *float64 {
			if x, ok := of[method]; ok {
				return &x
			}
			return nil
		}
		add(method+", failed: slots with a success rate high enough", "% of the candidates", number(remain), s.part("failed probable", "failed candidates").ShareOf(100), "")
		if method != byLoad {
			add(method+", failed: refused because of the workload", "% of the slots tried", number(refused), s.part("failed by workload", "failed by workload", "failed by conflict").ShareOf(100), "")
		}
	}
	return lines
}

func flexibilityLines() []study.Line {
	var lines []study.Line
	for _, ahead := range aheads {
		for _, span := range []int{ranges[0], 2, 10, waitsRange} {
			l := study.Line{Name: fmt.Sprintf("book-ahead %d h, range %d h", ahead, span), Ours: settingAt(byLoad, ahead, span).of("booked").ShareOf(allRequests)}
			if span == waitsRange {
				l.Paper, l.Note = study.Paper(allRequests), "\"all reservation requests were successful\""
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func impactLines() []study.Line {
	lines := []study.Line{{Name: "without reservations", Unit: "s", Paper: study.Paper(paperWait), Ours: settingAt(byLoad, 0, waitsRange).of("wait without")}}
	for _, ahead := range aheads {
		lines = append(lines, study.Line{
			Name: fmt.Sprintf("book-ahead %d h", ahead), Unit: "s", Paper: study.Paper(paperWaits[ahead]), Ours: settingAt(byLoad, ahead, waitsRange).of("wait"),
		})
	}
	return lines
}

func delayLines() []study.Line {
	var lines []study.Line
	for _, ahead := range aheads {
		s := settingAt(byLoad, ahead, waitsRange)
		lines = append(lines,
			study.Line{Name: fmt.Sprintf("book-ahead %d h: wait longer", ahead), Unit: "jobs", Ours: s.of("longer"), Note: "paper: \"approx. 200 to 400\""},
			study.Line{Name: fmt.Sprintf("book-ahead %d h: by an hour", ahead), Unit: "jobs", Ours: s.of("longer 60")},
			study.Line{Name: fmt.Sprintf("book-ahead %d h: wait for a shorter time", ahead), Unit: "jobs", Ours: s.of("shorter"), Note: "paper: \"a few\""})
	}
	return lines
}

func beyondLines() []study.Line {
	var lines []study.Line
	for _, method := range methods {
		for _, s := range []setting{inFigure7(method), inFigure7(method).free(), inFigure7(method).onRange()} {
			if s.unchecked && method == byLoad {
				continue // that is the check
			}
			name := method
			switch {
			case s.unchecked:
				name += ", without the check of the workload"
			case s.elastic:
				name += ", half to twice the processors"
			}
			lines = append(lines,
				study.Line{Name: name + ": successful", Ours: s.of("booked").ShareOf(allRequests)},
				study.Line{Name: name + ": slots tried", Unit: "for each success", Ours: s.tries()},
				study.Line{Name: name + ": wait of the others", Unit: "s", Ours: s.of("wait")})
		}
	}
	ours := inFigure7(byForecast).free()
	for _, against := range []struct {
		name   string
		theirs setting
	}{{"load", inFigure7(byLoad)}, {"history without it", inFigure7(byHistory).free()}} {
		name := "varq, without the check, against " + against.name
		lines = append(lines,
			study.Line{Name: name + ": successful", Ours: ours.of("booked").Minus(against.theirs.of("booked"))},
			study.Line{Name: name + ": wait of the others", Unit: "s", Ours: ours.of("wait").Minus(against.theirs.of("wait"))})
	}
	return lines
}

// tries returns the measure of the slots tried for each success.
func (s setting) tries() study.Measure {
	return func(r study.Results, seed uint64) float64 { return s.part("tries", "booked")(r, seed) / 100 }
}

func readingLines() []study.Line {
	var lines []study.Line
	for _, sample := range samples[1:] {
		none := setting{sample: sample, backfill: sched.EASY}
		name := func(what string) string { return string(sample) + ": " + what }
		lines = append(lines,
			study.Line{Name: name("from the first submission to the last"), Unit: "days", Paper: study.Paper(14), Ours: none.of("days")},
			study.Line{Name: name("wait without reservations"), Unit: "s", Paper: study.Paper(paperWait), Ours: none.of("wait")})
		for _, method := range []string{byStatic, byHistory, byLoad} {
			lines = append(lines, study.Line{Name: name("successful, " + method), Paper: study.Paper(paperBooked[method]), Ours: inFigure7(method).in(sample).of("booked").ShareOf(allRequests)})
		}
		for _, ahead := range aheads {
			lines = append(lines, study.Line{
				Name: name(fmt.Sprintf("wait, book-ahead %d h", ahead)), Unit: "s", Paper: study.Paper(paperWaits[ahead]),
				Ours: settingAt(byLoad, ahead, waitsRange).in(sample).of("wait"),
			})
		}
	}
	return lines
}

// figure6 shows the successful requests by time range and book-ahead time.
func figure6(r study.Results, name, title string, change func(setting) setting) study.Figure {
	f := study.Figure{Name: name, Title: title, X: "time range, hours", Y: fmt.Sprintf("successful requests of %d", allRequests)}
	for _, ahead := range aheads {
		s := study.Series{Name: fmt.Sprintf("book-ahead %d h", ahead)}
		for _, span := range ranges {
			if y := r.Interval(change(settingAt(byLoad, ahead, span)).of("booked")); y.N > 0 {
				s.X, s.Y = append(s.X, float64(span)), append(s.Y, y.Mean)
			}
		}
		if len(s.X) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f
}

// figure7 shows the candidates, and what became of them.
func figure7(r study.Results) study.Figure {
	f := study.Figure{Name: "figure-7", Title: "Slots for a request, book-ahead 2 h, range 10 h (Figure 7)", X: "method, and whether the request succeeded", Y: "slots"}
	kinds := []struct{ name, value string }{
		{"candidates", "candidates"}, {"with a success rate high enough", "probable"},
		{"refused because of the workload", "by workload"}, {"refused by the scheduler", "by conflict"},
	}
	for _, k := range kinds {
		f.Series = append(f.Series, study.Series{Name: k.name})
	}
	for _, method := range []string{byStatic, byHistory, byLoad} {
		for _, prefix := range []string{"", "failed "} {
			label := method + ", successful"
			if prefix != "" {
				label = method + ", failed"
			}
			f.Labels = append(f.Labels, label)
			for i, k := range kinds {
				f.Series[i].Y = append(f.Series[i].Y, r.Means(inFigure7(method).of(prefix+k.value))...)
			}
		}
	}
	return f
}

// figure8 shows how many jobs wait longer, by how much at least.
func figure8(r study.Results) study.Figure {
	f := study.Figure{Name: "figure-8", Title: "Jobs that wait longer because of reservations (Figure 8, with its axes exchanged)", X: "additional wait, hours", Y: "jobs that wait at least so much longer"}
	for _, ahead := range aheads {
		setting := settingAt(byLoad, ahead, waitsRange)
		s := study.Series{Name: fmt.Sprintf("book-ahead %d h", ahead)}
		for _, minutes := range longerBy {
			if y := r.Interval(setting.of(fmt.Sprint("longer ", minutes))); y.N > 0 {
				s.X, s.Y = append(s.X, float64(minutes)/60), append(s.Y, y.Mean)
			}
		}
		if len(s.X) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f
}

func differences(o study.Options) []string {
	d := slices.Concat([]string{
		"Jobs: the paper's \"first 2000 sound batch-jobs (ca. 2 weeks)\" are of the log as it was in July 2004, and it does not say what is sound. Ours are of version 4.2, without the activity that the archive has removed since: the first 2000 jobs that ran for a second or more, have a time limit, and were not in the queue interactive. Other readings have a table of their own: what jobs wait without reservations differs more between them than between most settings, and the paper's 700 s lies between.",
		"The paper chose once which jobs are made reservations. Each seed of ours chooses anew, one of each ten, and the intervals are over these choices; every setting has the same ones.",
		"Scheduling: the paper does not name its scheduler. Ours is first come, first served, with EASY backfilling by the users' limits, which starts no job that could still run, by its limit, when a reservation needs its processors. It reserves whatever fits beside the running jobs, until their limits, and the other reservations: waiting jobs are protected by the check of the known workload alone. Without reservations conservative backfilling makes hardly a difference, no backfilling a great one.",
		"A request that fails is given up, and its job never runs. The paper does not say what becomes of it. \"Without reservations\" all 2000 jobs are batch jobs, and the wait is that of the others.",
		"Not told by the paper, and chosen here: at most 100 slots of a size, at least 300 s apart; a price that is the same at all times, so that cost never decides between slots of a size; a speedup by Amdahl's law with a serial part of .01, as in its example (Table 1), where processors are from half to twice as many. These are multiples of a node's 8.",
		"Load: reservations raise the end of the known workload, in the order of their starts, by their processor time over the machine, each that starts before it. The paper says \"iteratively\". What running jobs still need is their limit less the time they have run, times .5.",
		"History records the idle processors every five minutes. Where nothing is recorded of a time of day yet, the machine counts as idle. The paper says that with this method none of the candidates of successful requests is filtered out, \"mainly due to the small uncertain recorded history\".",
		"With h = 18000 s, the rate of static is .85, the threshold, at a book-ahead time of 9 h 29 min. The paper says that 9 h 30 min \"correspond to a value of 0.9\"; that is .85 too.",
		"varq's success rate of a slot is the probability, by the forecasts with which varqd starts on a cluster it knows nothing of, that a job of that size submitted now starts by the slot's start. The check of the known workload is the paper's for all methods, unless a row says that there is none; then the success rate alone keeps reservations from overtaking waiting jobs.",
		"Figure 8 shows the additional wait of each job, sorted, of one run; ours shows how many jobs wait at least so much longer, in the mean over the seeds.",
	})
	if o.Quick {
		d = append(d, fmt.Sprintf("Quick: %d seeds.", Study{}.seeds(o)))
	}
	return d
}
