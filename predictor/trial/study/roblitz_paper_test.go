package study

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/thorough"
)

// TestRoblitzPaper: on the paper's log requests succeed as often as in section 4.2, more of them with more flexibility (section 4.1), and the
// other jobs wait longer because of them (section 4.3).
func TestRoblitzPaper(t *testing.T) {
	thorough.Only(t)
	o := Options{Quick: true, Seeds: 8, Traces: trace.Folder(archive.Folder(t))}
	needed := map[string]bool{}
	for _, ahead := range []int{0, 12, 24} {
		for _, span := range []int{0, 10, 30} {
			needed[roblitzAt(byLoad, ahead, span).name()] = true
		}
	}
	for _, method := range roblitzMethods {
		needed[roblitzFigure7(method).name()] = true
	}
	needed[roblitzFigure7(byForecast).free().name()] = true
	r := ResultsOf(outcomes(t, Roblitz{}, o, func(c Case) bool { return needed[c.Name] }), o.Seeds)
	mean := func(s roblitzSetting, value string) Interval { return r.Interval(s.of(value)) }
	for method, booked := range roblitzBooked {
		s := roblitzFigure7(method)
		between(t, method+": successful", mean(s, "booked"), booked-30, booked+10)
		if method != byLoad { // of which nearly all candidates are filtered out
			between(t, method+": failed, refused because of the workload, %", r.Interval(s.part("failed by workload", "failed probable")), 90, 100)
		}
	}
	between(t, "load: tried in vain", mean(roblitzFigure7(byLoad), "by workload"), 0, 0)
	between(t, "history: filtered out, %", r.Interval(roblitzFigure7(byHistory).part("probable", "candidates")), 90, 100)
	between(t, "range 30 h: successful", mean(roblitzAt(byLoad, 0, 30), "booked"), 198, 200)
	for _, ahead := range []int{0, 12} {
		less, more := roblitzAt(byLoad, ahead, 0), roblitzAt(byLoad, ahead, 10)
		between(t, "more successful with a longer range", r.Interval(more.of("booked").Minus(less.of("booked"))), 10, 200)
		between(t, "more successful with a longer book-ahead time", r.Interval(roblitzAt(byLoad, 24, 0).of("booked").Minus(less.of("booked"))), 10, 200)
	}
	between(t, "wait, book-ahead 0 h, times that without reservations", r.Interval(roblitzAt(byLoad, 0, 30).of("wait").Over(roblitzAt(byLoad, 0, 30).of("wait without"))), 40, 300)
	between(t, "jobs that wait longer", mean(roblitzAt(byLoad, 0, 30), "longer"), 200, 450)
	ours, theirs := roblitzFigure7(byForecast).free(), roblitzFigure7(byLoad)
	between(t, "varq against load: successful", r.Interval(ours.of("booked").Minus(theirs.of("booked"))), 5, 60)
}
