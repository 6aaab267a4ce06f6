package study

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// The paper's numbers.
var (
	// roblitzBooked are the successful requests of Figure 7 (section 4.2).
	roblitzBooked = map[string]float64{byStatic: 181, byHistory: 184, byLoad: 185}
	// roblitzWaitsPaper are the seconds that jobs wait on average, by book-ahead time (section 4.3).
	roblitzWaitsPaper = map[int]float64{0: 1200, 2: 1183, 4: 1906, 6: 1871, 12: 2042, 24: 4130}
	// roblitzWaitPaper is the same without reservations.
	roblitzWaitPaper = 700.
)

// Report implements Study.
func (s Roblitz) Report(o Options, outcomes []Outcome) Report {
	r := ResultsOf(outcomes, s.seeds(o))
	return Report{
		Name:  "roblitz",
		Title: "Röblitz, Schintke and Wendler, Elastic Grid Reservations with User-Defined Optimization Policies (2005)",
		Tables: []Table{
			r.Table("Jobs without reservations (section 4)", roblitzWithout()),
			r.Table(fmt.Sprintf("Successful requests of %d, book-ahead 2 h, range 10 h (section 4.2)", roblitzAsked), r.SingleRuns(roblitzSuccesses())),
			r.Table("How requests succeed and fail, book-ahead 2 h, range 10 h (Figure 7)", roblitzEfficiency()),
			r.Table("Successful requests, load (Figure 6)", roblitzFlexibility()),
			r.Table("Wait of the other jobs, load, range 30 h (section 4.3)", r.SingleRuns(roblitzImpact())),
			r.Table("Jobs that wait longer than without reservations, load, range 30 h (Figure 8)", roblitzDelays()),
			r.Table("Beyond the paper: varq's probability as success rate, and as the site's rule", roblitzBeyond()),
			r.Table("Other readings of \"sound batch-jobs\"", roblitzReadings()),
		},
		Differences: roblitzDifferences(o),
		Figures: []Figure{
			figure6(r, "figure-6", "Successful requests (Figure 6)", func(s roblitzSetting) roblitzSetting { return s }),
			figure6(r, "figure-6-elastic", "Successful requests, half to twice the processors", roblitzSetting.onRange),
			figure7(r),
			figure8(r),
		},
	}
}

func roblitzWithout() []Line {
	lines := []Line{{Name: "wait, EASY backfilling", Unit: "s", Paper: Paper(roblitzWaitPaper), Ours: roblitzSetting{backfill: sched.EASY}.of("wait"), Note: "of all jobs"}}
	for _, b := range []sched.Backfill{sched.Conservative, sched.NoBackfill} {
		name := "wait, conservative backfilling"
		if b == sched.NoBackfill {
			name = "wait, no backfilling"
		}
		lines = append(lines, Line{Name: name, Unit: "s", Ours: roblitzSetting{backfill: b}.of("wait")})
	}
	easy := roblitzSetting{backfill: sched.EASY}
	return append(lines,
		Line{Name: "from the first submission to the last", Unit: "days", Paper: Paper(14), Ours: easy.of("days"), Note: "the paper says \"ca. 2 weeks\""},
		Line{Name: "of the machine that they are", Unit: "%", Ours: easy.of("load").Times(100).ShareOf(100)})
}

func roblitzSuccesses() []Line {
	var lines []Line
	for _, method := range []string{byStatic, byHistory, byLoad} {
		lines = append(lines, Line{Name: method, Paper: Paper(roblitzBooked[method]), Ours: roblitzFigure7(method).of("booked").ShareOf(roblitzAsked)})
	}
	return lines
}

// part returns the measure of one value as per cent of the sum of others.
func (s roblitzSetting) part(value string, of ...string) Measure {
	return func(r Results, seed uint64) float64 {
		whole := 0.
		for _, v := range of {
			whole += s.of(v)(r, seed)
		}
		return s.of(value).PartOf(func(Results, uint64) float64 { return whole })(r, seed)
	}
}

func roblitzEfficiency() []Line {
	var lines []Line
	add := func(name, unit string, number *float64, ours Quantity, note string) {
		lines = append(lines, Line{Name: name, Unit: unit, Paper: number, Ours: ours, Note: note})
	}
	for _, method := range []string{byStatic, byHistory, byLoad} {
		s := roblitzFigure7(method)
		var vain, filtered *float64
		note := ""
		switch method {
		case byStatic, byLoad:
			vain = Paper(0)
			note = "\"both methods do only require one reservation try\""
		case byHistory:
			filtered = Paper(0)
		}
		add(method+", successful: slots with too low a success rate", "% of the candidates", filtered,
			Measure(func(r Results, seed uint64) float64 { return 100 - s.part("probable", "candidates")(r, seed) }).ShareOf(100), "")
		add(method+", successful: tried in vain", "slots a request", vain, Measure(func(r Results, seed uint64) float64 {
			return s.of("by workload")(r, seed) + s.of("by conflict")(r, seed)
		}), note)
		if method == byHistory {
			add(method+", successful: refused because of the workload", "% of the candidates", Paper(15), s.part("by workload", "candidates").ShareOf(100), "\"quite a few (approx. 15%)\"")
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

func roblitzFlexibility() []Line {
	var lines []Line
	for _, ahead := range roblitzAheads {
		for _, span := range []int{roblitzRanges[0], 2, 10, roblitzWaitsRange} {
			l := Line{Name: fmt.Sprintf("book-ahead %d h, range %d h", ahead, span), Ours: roblitzAt(byLoad, ahead, span).of("booked").ShareOf(roblitzAsked)}
			if span == roblitzWaitsRange {
				l.Paper, l.Note = Paper(roblitzAsked), "\"all reservation requests were successful\""
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func roblitzImpact() []Line {
	lines := []Line{{Name: "without reservations", Unit: "s", Paper: Paper(roblitzWaitPaper), Ours: roblitzAt(byLoad, 0, roblitzWaitsRange).of("wait without")}}
	for _, ahead := range roblitzAheads {
		lines = append(lines, Line{
			Name: fmt.Sprintf("book-ahead %d h", ahead), Unit: "s", Paper: Paper(roblitzWaitsPaper[ahead]), Ours: roblitzAt(byLoad, ahead, roblitzWaitsRange).of("wait"),
		})
	}
	return lines
}

func roblitzDelays() []Line {
	var lines []Line
	for _, ahead := range roblitzAheads {
		s := roblitzAt(byLoad, ahead, roblitzWaitsRange)
		lines = append(lines,
			Line{Name: fmt.Sprintf("book-ahead %d h: wait longer", ahead), Unit: "jobs", Ours: s.of("longer"), Note: "paper: \"approx. 200 to 400\""},
			Line{Name: fmt.Sprintf("book-ahead %d h: by an hour", ahead), Unit: "jobs", Ours: s.of("longer 60")},
			Line{Name: fmt.Sprintf("book-ahead %d h: wait for a shorter time", ahead), Unit: "jobs", Ours: s.of("shorter"), Note: "paper: \"a few\""})
	}
	return lines
}

func roblitzBeyond() []Line {
	var lines []Line
	for _, method := range roblitzMethods {
		for _, s := range []roblitzSetting{roblitzFigure7(method), roblitzFigure7(method).free(), roblitzFigure7(method).onRange()} {
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
				Line{Name: name + ": successful", Ours: s.of("booked").ShareOf(roblitzAsked)},
				Line{Name: name + ": slots tried", Unit: "for each success", Ours: s.tries()},
				Line{Name: name + ": wait of the others", Unit: "s", Ours: s.of("wait")})
		}
	}
	ours := roblitzFigure7(byForecast).free()
	for _, against := range []struct {
		name   string
		theirs roblitzSetting
	}{{"load", roblitzFigure7(byLoad)}, {"history without it", roblitzFigure7(byHistory).free()}} {
		name := "varq, without the check, against " + against.name
		lines = append(lines,
			Line{Name: name + ": successful", Ours: ours.of("booked").Minus(against.theirs.of("booked"))},
			Line{Name: name + ": wait of the others", Unit: "s", Ours: ours.of("wait").Minus(against.theirs.of("wait"))})
	}
	return lines
}

// tries returns the measure of the slots tried for each success.
func (s roblitzSetting) tries() Measure {
	return func(r Results, seed uint64) float64 { return s.part("tries", "booked")(r, seed) / 100 }
}

func roblitzReadings() []Line {
	var lines []Line
	for _, sample := range roblitzSamples[1:] {
		none := roblitzSetting{sample: sample, backfill: sched.EASY}
		name := func(what string) string { return string(sample) + ": " + what }
		lines = append(lines,
			Line{Name: name("from the first submission to the last"), Unit: "days", Paper: Paper(14), Ours: none.of("days")},
			Line{Name: name("wait without reservations"), Unit: "s", Paper: Paper(roblitzWaitPaper), Ours: none.of("wait")})
		for _, method := range []string{byStatic, byHistory, byLoad} {
			lines = append(lines, Line{Name: name("successful, " + method), Paper: Paper(roblitzBooked[method]), Ours: roblitzFigure7(method).in(sample).of("booked").ShareOf(roblitzAsked)})
		}
		for _, ahead := range roblitzAheads {
			lines = append(lines, Line{
				Name: name(fmt.Sprintf("wait, book-ahead %d h", ahead)), Unit: "s", Paper: Paper(roblitzWaitsPaper[ahead]),
				Ours: roblitzAt(byLoad, ahead, roblitzWaitsRange).in(sample).of("wait"),
			})
		}
	}
	return lines
}

// figure6 shows the successful requests by time range and book-ahead time.
func figure6(r Results, name, title string, change func(roblitzSetting) roblitzSetting) Figure {
	f := Figure{Name: name, Title: title, X: "time range, hours", Y: fmt.Sprintf("successful requests of %d", roblitzAsked)}
	for _, ahead := range roblitzAheads {
		s := Series{Name: fmt.Sprintf("book-ahead %d h", ahead)}
		for _, span := range roblitzRanges {
			if y := r.Interval(change(roblitzAt(byLoad, ahead, span)).of("booked")); y.N > 0 {
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
func figure7(r Results) Figure {
	f := Figure{Name: "figure-7", Title: "Slots for a request, book-ahead 2 h, range 10 h (Figure 7)", X: "method, and whether the request succeeded", Y: "slots"}
	kinds := []struct{ name, value string }{
		{"candidates", "candidates"}, {"with a success rate high enough", "probable"},
		{"refused because of the workload", "by workload"}, {"refused by the scheduler", "by conflict"},
	}
	for _, k := range kinds {
		f.Series = append(f.Series, Series{Name: k.name})
	}
	for _, method := range []string{byStatic, byHistory, byLoad} {
		for _, prefix := range []string{"", "failed "} {
			label := method + ", successful"
			if prefix != "" {
				label = method + ", failed"
			}
			f.Labels = append(f.Labels, label)
			for i, k := range kinds {
				f.Series[i].Y = append(f.Series[i].Y, r.Means(roblitzFigure7(method).of(prefix+k.value))...)
			}
		}
	}
	return f
}

// figure8 shows how many jobs wait longer, by how much at least.
func figure8(r Results) Figure {
	f := Figure{Name: "figure-8", Title: "Jobs that wait longer because of reservations (Figure 8, with its axes exchanged)", X: "additional wait, hours", Y: "jobs that wait at least so much longer"}
	for _, ahead := range roblitzAheads {
		setting := roblitzAt(byLoad, ahead, roblitzWaitsRange)
		s := Series{Name: fmt.Sprintf("book-ahead %d h", ahead)}
		for _, minutes := range roblitzLonger {
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

func roblitzDifferences(o Options) []string {
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
		d = append(d, fmt.Sprintf("Quick: %d seeds.", Roblitz{}.seeds(o)))
	}
	return d
}
