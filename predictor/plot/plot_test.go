package plot

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

func figure4() *Trajectory {
	t := &Trajectory{
		Title: "4 nodes for 1:00:00", Prob: .5, BeginBy: 1_173_264_540,
		Location: time.FixedZone("CST", -6*3600),
		Plan:     &api.Plan{Worst: api.Cost{NodeSeconds: 10920}, Expected: api.Cost{NodeSeconds: 5000}},
	}
	for s := int64(0); s < 43200; s += 30 {
		left := float64(43200 - s)
		pt := api.Point{BeginTime: t.BeginBy - 43200 + s, Class: "partition=dque limit>7h", Prob: .25 + .14*(left-21600)/21600}
		if s >= 21600 {
			pt.Class, pt.Prob = "partition=dque limit<=7h", .5+.2*(left-2730)/(21600-2730)
		}
		if left < 2730 {
			pt.Prob = .5 * left / 2730
		}
		if pt.Prob >= t.Prob {
			t.Plan.BeginTime, t.Plan.Estimate = pt.BeginTime, pt.Prob
		}
		t.Points = append(t.Points, pt)
	}
	return t
}

func TestWritePNG(t *testing.T) {
	var b bytes.Buffer
	if err := figure4().Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/w/d.png", b.Bytes(), 0o666)
}
