package extern

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// evenly is an answer whose waits are spread evenly from 0 to some seconds.
func evenly(seconds float64, sample float64) (r reply) {
	r.Wait = toDistribution([]float64{seconds}, []float64{1})
	r.Sample, r.known = sample, true
	return r
}

func TestAhead(t *testing.T) {
	ask := func(h *ahead, user string, now, submit, limit int64) (reply, bool) {
		return h.answer(&forecast.Question{Request: workload.Request{User: user, Limit: limit}, Now: now, Submit: submit})
	}
	var h ahead
	s := subject{request: workload.Request{User: "ada"}, now: 100}
	h.keep(s, []point{ // in no order
		{submit: 300, limit: 60, reply: reply{}},
		{submit: 200, limit: 120, reply: evenly(1000, 20)},
		{submit: 100, limit: 180, reply: evenly(500, 10)},
	})
	for _, c := range []struct {
		what               string
		user               string
		now, submit, limit int64
		ok, known          bool
		median             float64
	}{
		{"the same question", "ada", 100, 100, 180, true, true, 250},
		{"between two", "ada", 100, 175, 150, true, true, 400},
		{"where one does not know", "ada", 100, 250, 90, true, false, 0},
		{"what is not known", "ada", 100, 300, 60, true, false, 0},
		{"somebody else", "bob", 100, 100, 180, false, false, 0},
		{"another time", "ada", 101, 100, 180, false, false, 0},
		{"too early", "ada", 100, 99, 180, false, false, 0},
		{"too late", "ada", 100, 301, 60, false, false, 0},
		{"a longer limit than its neighbours", "ada", 100, 150, 181, false, false, 0},
		{"a shorter one", "ada", 100, 150, 119, false, false, 0},
	} {
		r, ok := ask(&h, c.user, c.now, c.submit, c.limit)
		if ok != c.ok || r.known != c.known {
			t.Errorf("%s: asked ahead %v, known %v", c.what, ok, r.known)
		}
		if m := r.Wait.Quantile(.5); c.known && math.Abs(m-c.median) > 30 {
			t.Errorf("%s: median %v, want %v", c.what, m, c.median)
		}
	}
	if r, _ := ask(&h, "ada", 100, 150, 150); r.Sample != 10 {
		t.Errorf("rests on %v, want the smaller of 10 and 20", r.Sample)
	}

	h.keep(s, []point{{submit: 100, limit: 180}})
	if r, ok := ask(&h, "ada", 100, 100, 180); !ok || r.known {
		t.Error("an older plan is asked")
	}
	for now := range int64(maxAhead) {
		h.keep(subject{now: now}, nil)
	}
	if _, ok := ask(&h, "ada", 100, 100, 180); ok || len(h.plans) != maxAhead {
		t.Errorf("%d plans are kept", len(h.plans))
	}
}

func TestThin(t *testing.T) {
	for _, n := range []int{1, 2, 127, 128, 129, 255, 1441} {
		questions := make([]forecast.Question, n)
		for i := range questions {
			questions[i].Submit = int64(i)
		}
		few := thin(questions, 128)
		if len(few) != min(n, 128) || few[0].Submit != 0 || few[len(few)-1].Submit != int64(n-1) {
			t.Errorf("%d: %d from %d to %d", n, len(few), few[0].Submit, few[len(few)-1].Submit)
		}
		for i := 1; i < len(few); i++ {
			if step := few[i].Submit - few[i-1].Submit; step < 1 || step > int64(n/127+1) {
				t.Errorf("%d: a step of %d", n, step)
			}
		}
	}
}
