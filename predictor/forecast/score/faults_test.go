package score

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The scores of forecasts that are right: they come true as often as they say, and gain what they
// know.
func TestFaultRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	loss := func(p float64, failed bool) float64 {
		if failed {
			return -math.Log(p)
		}
		return -math.Log(1 - p)
	}
	var days []DayFaults
	for day := range int64(70) {
		good, constant := DayFaults{Day: day, Forecaster: "good"}, DayFaults{Day: day, Forecaster: "constant"}
		for range 200 {
			p := .001
			if r.Float64() < .1 {
				p = .3
			}
			const rate = .9*.001 + .1*.3
			failed := r.Float64() < p
			good.Add(p, failed, p > .1, loss(p, failed), loss(rate, failed))
			constant.Add(rate, failed, false, loss(rate, failed), loss(rate, failed))
		}
		days = append(days, good, constant)
	}
	rows := FaultRows(days)
	if len(rows) != 2 || rows[0].Forecaster != "constant" || rows[0].Gain != 0 || rows[0].Low != 0 || !rows[0].Sure {
		t.Fatalf("%+v", rows)
	}
	good := rows[1]
	// In theory a forecast gains its information, and each that comes true its share of it.
	want := (.9*(.001*math.Log(.001/.0309)+.999*math.Log(.999/.9691)) + .1*(.3*math.Log(.3/.0309)+.7*math.Log(.7/.9691))) / .0309
	if all := good.All(); all.N != 14_000 || math.Abs(all.Predicted/float64(all.Failed)-1) > .1 || good.Gain < .9*want || good.Gain > 1.1*want || good.Low > want || good.High < want {
		t.Errorf("gain %g in %g to %g, want %g: %+v", good.Gain, good.Low, good.High, want, all)
	}
	if precision := float64(good.Hits) / float64(good.Alarms); precision < .25 || precision > .35 {
		t.Errorf("precision %g", precision)
	}
	if len(good.Reliability) != 2 {
		t.Fatalf("%+v", good.Reliability)
	}
	for _, p := range good.Reliability {
		if p.Low > p.Mean || p.High < p.Mean || p.True < p.Low || p.True > p.High {
			t.Errorf("not reliable: %+v", p)
		}
	}
	if level := good.Level(); level != .2 {
		t.Errorf("as many forecasts as came true are above %g", level)
	}
	if few := FaultRows(days[:14]); few[0].Sure || few[1].Gain == 0 {
		t.Errorf("%+v", few)
	}
}

func TestLevel(t *testing.T) {
	var f Faults
	if level := f.Level(); level <= 1 {
		t.Errorf("without a failure %g", level)
	}
	f.Add(0, true, false, 20, 1)
	f.Add(1, false, false, 20, 1)
	if level := f.Level(); level != .5 {
		t.Errorf("one failed: %g", level)
	}
	f.Add(2e-6, true, false, 20, 1)
	f.Add(.003, false, false, 20, 1)
	if level := f.Level(); level != .002 {
		t.Errorf("two failed: %g", level)
	}
	for range 9 {
		f.Add(0, true, false, 20, 1)
	}
	if level := f.Level(); level != 0 {
		t.Errorf("all failed: %g", level)
	}
	for _, lead := range []int64{-1, 0, 6 * 3600, 8 * 86400} {
		f.Announce(lead)
	}
	if f.Failures != 4 || f.Ahead != [...]int{3, 2, 1, 1} {
		t.Errorf("%+v", f)
	}
}
