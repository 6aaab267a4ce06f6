package negotiate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exponential is the Prospect of a job whose end comes after an exponentially distributed time with
// a mean of 1,000 s, and of which nothing surer than its value can be promised.
type exponential float64

func (most exponential) Prob(seconds float64) float64 {
	return float64(most) * -math.Expm1(-max(0, seconds)/1000)
}

func (exponential) TimeOut() float64 { return 0 }

func (exponential) Lost(float64) float64 { return 0 }

func (most exponential) Within(prob float64, step int64) (int64, bool) {
	if prob >= float64(most) {
		return 0, false
	}
	return int64(math.Ceil(-1000*math.Log1p(-prob/float64(most))/float64(step))) * step, true
}

func TestAsk(t *testing.T) {
	const now = 600_000
	type deal struct {
		Deadline int64
		Prob     float64
	}
	deals := func(list []Offer) (deals []deal) {
		for _, o := range list {
			if o.Estimate < o.Prob {
				t.Errorf("%+v", o)
			}
			deals = append(deals, deal{o.Deadline - now, o.Prob})
		}
		return deals
	}
	for name, c := range map[string]struct {
		most   float64
		r      Request
		deal   *deal // nil for a refusal
		reason string
		others []deal
	}{
		"promised": {1, Request{Deadline: now + 3000, Prob: .9}, &deal{3000, .9}, "", []deal{{840, .5}, {1560, .75}, {2640, .9}, {3000, .92}, {3360, .95}, {4980, .99}}},
		"refused": {
			1, Request{Deadline: now + 1200, Prob: .9}, nil, "an end by the deadline can be promised with probability 0.69 at best, not 0.9",
			[]deal{{840, .5}, {1200, .66}, {1560, .75}, {2640, .9}, {3360, .95}, {4980, .99}},
		},
		"a level of her own": {1, Request{Deadline: now + 1200, Prob: .8}, nil, "an end by the deadline can be promised with probability 0.69 at best, not 0.8",
			[]deal{{840, .5}, {1200, .66}, {1560, .75}, {1800, .8}, {2640, .9}, {3360, .95}, {4980, .99}}},
		"too early for any use": {1, Request{Deadline: now + 5, Prob: .9}, nil, "not even a probability of 0.01 can be promised for an end by the deadline",
			[]deal{{840, .5}, {1560, .75}, {2640, .9}, {3360, .95}, {4980, .99}}},
		"risk": {1, Request{Risk: .9, Prob: .5}, &deal{2340, .9}, "", []deal{{840, .5}, {1560, .75}, {3360, .95}, {4980, .99}}},
		"risk, in time": {1, Request{Deadline: now + 3000, Prob: .9, Risk: .8}, &deal{3000, .9}, "",
			[]deal{{840, .5}, {1560, .75}, {2640, .9}, {3000, .92}, {3360, .95}, {4980, .99}}},
		"risk, too late": {1, Request{Deadline: now + 1200, Prob: .9, Risk: .8}, &deal{1620, .8}, "",
			[]deal{{840, .5}, {1200, .66}, {1560, .75}, {2640, .9}, {3360, .95}, {4980, .99}}},
		"nothing so late": {1, Request{Risk: .9, Prob: .5, Latest: now + 2400}, &deal{2340, .9}, "", []deal{{840, .5}, {1560, .75}}},
		"too late a one":  {1, Request{Risk: .9, Prob: .5, Latest: now + 2000}, nil, "no end can be promised with probability 0.9 within the time for which the site promises", []deal{{840, .5}, {1560, .75}}},
		"however late":    {.8, Request{Risk: .9, Prob: .9}, nil, "no end can be promised with probability 0.9, however late", []deal{{1140, .5}, {3360, .75}}},
		"never":           {0, Request{Deadline: now + 1200, Prob: .9}, nil, "not even a probability of 0.01 can be promised for an end by the deadline", nil},
	} {
		c.r.Now = now
		a := Ask(exponential(c.most), c.r)
		var got *deal
		if a.Promise != nil {
			got = &deals([]Offer{*a.Promise})[0]
		}
		if diff := cmp.Diff(c.deal, got); diff != "" || a.Reason != c.reason {
			t.Errorf("%s: %s %q", name, diff, a.Reason)
		}
		if diff := cmp.Diff(c.others, deals(a.Others)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A deadline that was offered a moment ago is promised, unless less than half of its probability is
// left. The estimate is the one now.
func TestGiven(t *testing.T) {
	for seconds, promised := range map[int64]bool{1200: true, 500: false} { // with .69 and .39
		r := Request{Now: 600_000, Deadline: 600_000 + seconds, Prob: .9, Given: true}
		a := Ask(exponential(1), r)
		if (a.Promise != nil) != promised || promised && math.Abs(a.Promise.Estimate-.699) > .001 {
			t.Errorf("in %d s: %+v", seconds, a)
		}
	}
}
