package roblitz

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
	"github.com/varq-project/varq/test/thorough"
)

// TestPaper: on the paper's log requests succeed as often as in section 4.2, more of them with more
// flexibility (section 4.1), and the other jobs wait longer because of them (section 4.3).
func TestPaper(t *testing.T) {
	thorough.Only(t)
	o := study.Options{Quick: true, Seeds: 8, Traces: trace.Folder(archive.Folder(t))}
	needed := map[string]bool{}
	for _, ahead := range []int{0, 12, 24} {
		for _, span := range []int{0, 10, 30} {
			needed[settingAt(byLoad, ahead, span).name()] = true
		}
	}
	for _, method := range methods {
		needed[inFigure7(method).name()] = true
	}
	needed[inFigure7(byForecast).free().name()] = true
	r := study.ResultsOf(studytest.Outcomes(t, Study{}, o, func(c study.Case) bool { return needed[c.Name] }), o.Seeds)
	mean := func(s setting, value string) study.Interval { return r.Interval(s.of(value)) }
	for method, booked := range paperBooked {
		s := inFigure7(method)
		studytest.Between(t, method+": successful", mean(s, "booked"), booked-30, booked+10)
		if method != byLoad { // of which nearly all candidates are filtered out
			studytest.Between(t, method+": failed, refused because of the workload, %", r.Interval(s.part("failed by workload", "failed probable")), 90, 100)
		}
	}
	studytest.Between(t, "load: tried in vain", mean(inFigure7(byLoad), "by workload"), 0, 0)
	studytest.Between(t, "history: filtered out, %", r.Interval(inFigure7(byHistory).part("probable", "candidates")), 90, 100)
	studytest.Between(t, "range 30 h: successful", mean(settingAt(byLoad, 0, 30), "booked"), 198, 200)
	for _, ahead := range []int{0, 12} {
		less, more := settingAt(byLoad, ahead, 0), settingAt(byLoad, ahead, 10)
		studytest.Between(t, "more successful with a longer range", r.Interval(more.of("booked").Minus(less.of("booked"))), 10, 200)
		studytest.Between(t, "more successful with a longer book-ahead time", r.Interval(settingAt(byLoad, 24, 0).of("booked").Minus(less.of("booked"))), 10, 200)
	}
	studytest.Between(t, "wait, book-ahead 0 h, times that without reservations", r.Interval(settingAt(byLoad, 0, 30).of("wait").Over(settingAt(byLoad, 0, 30).of("wait without"))), 40, 300)
	studytest.Between(t, "jobs that wait longer", mean(settingAt(byLoad, 0, 30), "longer"), 200, 450)
	ours, theirs := inFigure7(byForecast).free(), inFigure7(byLoad)
	studytest.Between(t, "varq against load: successful", r.Interval(ours.of("booked").Minus(theirs.of("booked"))), 5, 60)
}
