package backtest

import (
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/score/group"
)

// TestWorst: who knows the truth of all waits, but not that one user waits for longer, is off for
// that user's jobs, and for no others.
func TestWorst(t *testing.T) {
	jobs := made(20_000, 2)
	for i := range jobs {
		j := &jobs[i]
		for _, at := range []*int64{&j.Submit, &j.Eligible, &j.Start, &j.End} {
			if *at != 0 {
				*at += 1000 * int64(i) // half a year
			}
		}
		j.User = []string{"lucky", "lucky", "unlucky"}[i/100%3]
		if j.User == "unlucky" && j.Start != 0 {
			j.Start, j.End = j.Start+1800, j.End+1800
		}
	}
	var q queue.Queue
	r, err := Run(jobs, &q, []Method{knowing()}, Options{Quantiles: someQuantiles, By: Splits})
	if err != nil {
		t.Fatal(err)
	}
	worst := r.Scores[0].Worst
	if len(worst) == 0 || len(worst) > group.Most || worst[0].By != "user" || worst[0].Value != "unlucky" {
		t.Fatalf("%+v", worst)
	}
	g := worst[0]
	i := g.MostOff(someQuantiles)
	if g.Jobs < 5000 || g.Off <= 0 || someQuantiles[i]-g.Coverage[i].High <= 0 ||
		math.Abs((someQuantiles[i]-g.Coverage[i].High)/math.Sqrt(someQuantiles[i]*(1-someQuantiles[i]))-g.Off) > 1e-12 {
		t.Errorf("%+v, most off at %v", g, someQuantiles[i])
	}
	if !slices.IsSortedFunc(worst, func(a, b group.Coverage) int { return int(1e9 * (b.Off - a.Off)) }) {
		t.Errorf("they are not in order: %+v", worst)
	}
	for _, p := range r.Parts {
		if p.Scores[0].Worst != nil {
			t.Errorf("%s %s has groups", p.By, p.Value)
		}
	}
}
