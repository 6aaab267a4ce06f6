package backtest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// TestWorst: who knows the truth of all waits, but not that one user waits for longer, is off for that user's jobs, and for no others.
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
	if len(worst) == 0 || len(worst) > mostGroups || worst[0].By != "user" || worst[0].Value != "unlucky" {
		t.Fatalf("%+v", worst)
	}
	g := worst[0]
	i := g.MostOff(someQuantiles)
	if g.Jobs < 5000 || g.Off <= 0 || someQuantiles[i]-g.Coverage[i].High <= 0 || off(someQuantiles[i], g.Coverage[i]) != g.Off {
		t.Errorf("%+v, most off at %v", g, someQuantiles[i])
	}
	if !slices.IsSortedFunc(worst, func(a, b Group) int { return int(1e9 * (b.Off - a.Off)) }) {
		t.Errorf("they are not in order: %+v", worst)
	}
	for _, p := range r.Parts {
		if p.Scores[0].Worst != nil {
			t.Errorf("%s %s has groups", p.By, p.Value)
		}
	}
}

func TestBursts(t *testing.T) {
	b := bursts{}
	var places []int
	for _, j := range []struct {
		at    int64
		limit int64
	}{{0, 60}, {0, 60}, {5, 120}, {600, 60}, {1201, 60}, {1202, 120}} {
		places = append(places, b.place(&workload.Job{Submit: j.at, Request: workload.Request{User: "alice", Limit: j.limit}}))
	}
	if diff := cmp.Diff([]int{1, 2, 1, 3, 1, 1}, places); diff != "" {
		t.Error(diff)
	}
	var names []string
	for place := 1; place <= 40; place++ {
		names = append(names, placeInBurst(place))
	}
	if names = slices.Compact(names); len(names) != 5 {
		t.Errorf("%q", names)
	}
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		want    string
	}{
		{[]float64{0, 59}, "less than 2 times"}, {[]float64{0, 60}, "2 to 5 times"}, {[]float64{60, 3000, 2400}, "20 to 100 times"},
		{[]float64{0, 1e6}, "100 times and more"}, {[]float64{100}, ""}, {nil, ""},
	} {
		var said []score.Quantile
		for _, x := range c.seconds {
			said = append(said, score.Quantile{Seconds: x})
		}
		got := ""
		if g, ok := ofForecast(said); ok {
			got = g.value
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.seconds, got, c.want)
		}
	}
}
