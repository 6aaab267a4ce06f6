package simulate

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/trial/scenario"
)

// TestPlain: those who asked are looked up among the starts of the trial in which nobody reserves.
func TestPlain(t *testing.T) {
	base := &trial{starts: starts{1: 1000, 2: 3500, 3: 5000, 4: 100, 5: 9000}}
	varq := &trial{starts: make(starts), Plain: new(plain), asked: []asked{
		{job: 1, wanted: 4000, promised: 4000}, // 3000 s early
		{job: 2, wanted: 4000, promised: 4000}, // within a quarter of an hour
		{job: 3, wanted: 4000, promised: 4000}, // late
		{job: 4, wanted: 4000},
		{job: 5, wanted: 4000, promised: 7600}, // takes an offer
	}}
	compareWithPlain([]*trial{base, varq})
	p := varq.Plain
	p.conclude()
	if p.Promised != 3 || p.InTime != 2 || p.AtTime != 1 || p.Refused != 2 || p.RefusedInTime != 1 || p.Early != 500 || p.Later != 3600 {
		t.Errorf("%+v", p)
	}
	if base.starts != nil || varq.starts != nil || varq.asked != nil {
		t.Error("single jobs are kept in memory")
	}
	var twice plain
	twice.plus(p)
	twice.plus(p)
	twice.conclude()
	if twice.Promised != 6 || twice.InTime != 4 || twice.AtTime != 2 || twice.Refused != 4 || twice.RefusedInTime != 2 || twice.Early != p.Early {
		t.Errorf("twice %+v is %+v", p, twice)
	}
	for _, says := range []string{"66.7 % of the same jobs", "half of them 8.3 minutes or more before", "33.3 % of all in its last quarter of an hour"} {
		if !strings.Contains(p.sentence(), says) {
			t.Errorf("%q does not say %q", p.sentence(), says)
		}
	}
}

// TestPrices: what jobs hold is paid by their users, and a hard reservation costs 1.5 times what is
// booked.
func TestPrices(t *testing.T) {
	r := compared{trial: &trial{Result: &scenario.Result{
		Held: .01,
		VARQ: &scenario.VARQResult{Promised: 4, Work: 7200, Held: 1800, Booked: 3 * 7200, Overhead: .25},
		Last: 13 * 86400,
	}}}
	c := &comparison{setting: setting{Seeds: 1}, Trials: []compared{r}}
	n := c.price(r)
	beside := strings.Join(n.Beside, "\n")
	if n.Value != "1.25 times" || !strings.Contains(beside, "1 processor-hours in 2 weeks, 1.0 % of the cluster") || !strings.Contains(beside, "4.50 times for a hard reservation") {
		t.Errorf("%+v", n)
	}
}

// TestRefusal: the offers of the refused are told, and a share of them that were kept only where
// that tells something.
func TestRefusal(t *testing.T) {
	r, err := newTrial("varq=10%,take-offers")
	if err != nil {
		t.Fatal(err)
	}
	r.Plain = &plain{Later: 2 * 3600}
	for _, c := range []struct {
		offers scenario.OffersResult
		says   string
	}{
		{scenario.OffersResult{}, "nobody else asks"},
		{scenario.OffersResult{Refused: 200}, "of the others 0.0 % get an offer"},
		{scenario.OffersResult{Refused: 200, Offered: 150, Later: 50, Kept: 48, KeptLow: .9, KeptHigh: .98},
			"of the others 75.0 % get an offer; 25.0 % take a deadline that is at most a day later, half of them one at most 2 hours later: 96.0 % are kept"},
		{scenario.OffersResult{Refused: 200, Offered: 150, Later: 50, Kept: 48, KeptLow: .4, KeptHigh: 1},
			"of the others 75.0 % get an offer; 25.0 % take a deadline that is at most a day later, half of them one at most 2 hours later: 48 of 50 are kept"},
	} {
		r.Result = &scenario.Result{VARQ: &scenario.VARQResult{Offers: &c.offers}}
		if got := strings.Join(compared{trial: r}.refusal("of the others"), "; "); got != c.says {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[float64]string{
		0: "0 seconds", 1: "1 second", 59: "59 seconds", 60: "1 minute", 90: "90 seconds", 150: "2.5 minutes", 3600: "1 hour",
		5400: "90 minutes", 7200: "2 hours", 20_000: "5.6 hours", 86_400: "1 day", 200_000: "2.3 days",
	} {
		if got := spoken(d); got != want {
			t.Errorf("%v s is %q, want %q", d, got, want)
		}
	}
}
