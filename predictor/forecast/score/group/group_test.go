package group

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

func TestBursts(t *testing.T) {
	var b Bursts
	var places []int
	for _, j := range []struct {
		at    int64
		limit int64
	}{{0, 60}, {0, 60}, {5, 120}, {600, 60}, {1201, 60}, {1202, 120}} {
		places = append(places, b.Place(&workload.Job{Submit: j.at, Request: workload.Request{User: "alice", Limit: j.limit}}))
	}
	if diff := cmp.Diff([]int{1, 2, 1, 3, 1, 1}, places); diff != "" {
		t.Error(diff)
	}
	var names []string
	for place := 1; place <= 40; place++ {
		names = append(names, inBurst(place))
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
		if g, ok := byWidth(said); ok {
			got = g.Value
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.seconds, got, c.want)
		}
	}
}

// A burst that is over is forgotten, and one that is not goes on, however many there are.
func TestBurstsAreForgotten(t *testing.T) {
	var b Bursts
	for i := range int64(10_000) {
		b.Place(&workload.Job{Submit: i, Request: workload.Request{Limit: 1 + i}})
		if got := b.Place(&workload.Job{Submit: i}); got != int(i)+1 {
			t.Fatalf("at %d: %d", i, got)
		}
	}
	if len(b.by) > 2*2048 {
		t.Errorf("%d bursts are remembered", len(b.by))
	}
}
