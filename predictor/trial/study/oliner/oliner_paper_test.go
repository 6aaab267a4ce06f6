package oliner

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
	"github.com/varq-project/varq/test/thorough"
)

// TestPaper: on the beginnings of the paper's job logs with Los Alamos' failures, the metrics move
// as in section 5.
func TestPaper(t *testing.T) {
	thorough.Only(t)
	archive.LosAlamos(t)
	o := study.Options{Quick: true, Seeds: 10, Traces: trace.Folder(archive.Folder(t))}
	needed := map[string]bool{}
	for _, log := range logs() {
		for _, u := range []int{0, 1, 5, 9, 10} {
			needed[setting{log: log, u: u}.name()] = true
		}
	}
	r := study.ResultsOf(studytest.Outcomes(t, Study{}, o, func(c study.Case) bool { return needed[c.Name] }), o.Seeds)
	for _, log := range logs() {
		users := func(u int) setting { return setting{log: log, u: u} }
		careful := users(9)
		studytest.Between(t, log+": a=1 against a=0, QoS, %", r.Interval(careful.of(10, "qos").Over(careful.of(0, "qos"))), 3, 60)
		studytest.Between(t, log+": a=1 against a=0, lost work, %", r.Interval(careful.of(10, "lost").PartOf(careful.of(0, "lost"))), 0, 100./9)
		studytest.Between(t, log+": U=.9 against U=.1, QoS, %", r.Interval(careful.of(10, "qos").Over(users(1).of(10, "qos"))), .5, 30)
		studytest.Between(t, log+": a=1, U=.9, QoS", r.Interval(careful.of(10, "qos")), .95, 1)
		studytest.Between(t, log+": a=1, U=1, QoS", r.Interval(users(10).of(10, "qos")), 1-1e-9, 1+1e-9)
		studytest.Between(t, log+": a=1, U=1, lost work", r.Interval(users(10).of(10, "lost")), 0, 0)
		studytest.Between(t, log+": a=.5, effect of U while U <= 1-a", r.Interval(spread(log, "lost", 5, 0, 1, 5)), 0, 0)
	}
	sdsc := jobsCase(sdscLog)
	full := study.Options{Traces: o.Traces}
	values, err := Study{}.Run(full, study.Case{Name: sdsc, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"nodes": 9.7, "work": 7722, "longest": 132} {
		if math.Abs(values[name]/want-1) > .015 {
			t.Errorf("Table 1, SDSC: %s is %v, want %v", name, values[name], want)
		}
	}
}
