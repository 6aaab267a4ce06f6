package backtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// TestRollingAgainstSorting compares the quantiles with those of the newest waits,
// sorted anew after each wait.
func TestRollingAgainstSorting(t *testing.T) {
	for _, most := range []int{30, 300} {
		rollingAgainstSorting(t, most)
	}
	fast := newRolling()
	for wait := range uint32(1000) {
		fast.add(wait)
	}
	if got := fast.Quantile(.95); got != 984 || got != fast.Quantile(.9499) {
		t.Errorf("the .95 quantile of 300 is not the 285th but %v", got)
	}
}

func rollingAgainstSorting(t *testing.T, most int) {
	random := rand.New(rand.NewPCG(1, 1))
	fast := &rolling{most: most}
	var all []uint32
	for range 1000 {
		wait := random.Uint32N(50)
		fast.add(wait)
		all = append(all, wait)
		newest := slices.Sorted(slices.Values(all[max(0, len(all)-most):]))
		for k := range newest {
			// q is between two steps of the empirical distribution.
			q := (float64(k) + .5) / float64(len(newest))
			if got := fast.Quantile(q); got != float64(newest[k]) {
				t.Fatalf("%v quantile of %d is %v, want %d", q, len(newest), got, newest[k])
			}
		}
		at := random.Uint32N(50)
		var below, within int
		for _, w := range newest {
			if w < at {
				below++
			}
			if w <= at {
				within++
			}
		}
		if n := float64(len(newest)); fast.Below(float64(at)) != float64(below)/n || fast.Within(float64(at)) != float64(within)/n {
			t.Fatalf("below %d: %v, within: %v, want %d and %d of %v", at, fast.Below(float64(at)), fast.Within(float64(at)), below, within, n)
		}
	}
}

// TestBinomialAgainstSorting compares the bounds with those from a sorted list.
func TestBinomialAgainstSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	fast := &binomial{bounds: make(bounds)}
	var all []uint32
	for range 500 {
		wait := random.Uint32N(1000)
		fast.add(wait)
		all = append(all, wait)
		sorted := slices.Sorted(slices.Values(all))
		for _, q := range []float64{.5, .95} {
			want := math.Inf(1)
			if k, _, ok := stats.QuantileBound(len(sorted), q, .95); ok {
				want = float64(sorted[k-1])
			}
			if got := fast.Quantile(q); got != want {
				t.Fatalf("bound on the %v quantile of %d is %v, want %v", q, len(sorted), got, want)
			}
		}
		at, n := float64(random.IntN(1000)), 0
		for _, w := range sorted {
			if float64(w) <= at {
				n++
			}
		}
		if got, want := fast.Within(at), stats.LowerProportion(n, len(sorted), .95); got != want || fast.Below(at+1) != want || fast.Below(at+.5) != want {
			t.Fatalf("within %v: %v, want %v", at, got, want)
		}
	}
	for i := range 3 * mostBounds { // of many quantiles not all are remembered
		q := .3 + float64(i)/1000
		k, _, ok := stats.QuantileBound(len(all), q, .95)
		if got := fast.Quantile(q); !ok || got != float64(slices.Sorted(slices.Values(all))[k-1]) || len(fast.bounds) > mostBounds {
			t.Fatalf("bound on the %v quantile is %v, with %d remembered", q, got, len(fast.bounds))
		}
	}
	if fast.Within(-1) != 0 || fast.Below(0) != 0 || fast.Within(math.NaN()) != 0 {
		t.Error("something is less than 0")
	}
}

// TestScopes: a baseline answers from the waits in its scope. While those are too few, it
// answers from a wider scope.
func TestScopes(t *testing.T) {
	request := func(partition string, nodes int32) workload.Request {
		return workload.Request{Partition: partition, Size: workload.Size{Nodes: nodes}, Limit: 3600}
	}
	for _, test := range []struct {
		name               string
		other, queue, cell float64 // median forecast for each kind of job, in seconds
		few                float64
	}{
		{"rolling-log", 300, 300, 300, 300},
		{"rolling-queue", 300, 200, 200, 300},
		{"rolling-cell", 300, 200, 100, 7},
		{"binomial-log", 300, 300, 300, 300},
		{"binomial-queue", 300, 200, 200, 300},
		{"binomial-cell", 300, 200, 100, 300},
	} {
		i := slices.IndexFunc(Methods, func(m Maker) bool { return m.Name == test.name })
		m := Methods[i].New(Cluster{})
		if m.Name() != test.name {
			t.Errorf("%s calls itself %s", test.name, m.Name())
		}
		ask := func(r workload.Request) (float64, bool) {
			wait, lower := m.Predict(&forecast.Question{Request: r})
			if wait == nil {
				return 0, lower != nil
			}
			return wait.Quantile(.5), true
		}
		if _, ok := ask(request("main", 1)); ok {
			t.Errorf("%s answers without a past", test.name)
		}
		learn := func(n int, r workload.Request, wait int64) {
			for range n {
				m.Started(&workload.Job{Request: r, Submit: 1, Eligible: 1, Start: 1 + wait})
			}
		}
		learn(1, request("few", 1), 7)
		learn(60, request("main", 1), 100)
		learn(100, request("main", 8), 200)
		learn(400, request("other", 1), 300)
		for _, c := range []struct {
			request workload.Request
			want    float64
		}{
			{request("other", 1), test.other}, {request("main", 32), test.queue}, {request("main", 1), test.cell}, {request("new", 1), 300},
		} {
			if got, ok := ask(c.request); !ok || got != c.want {
				t.Errorf("%s says %v of %+v, want %v", test.name, got, c.request, c.want)
			}
		}
		want := test.few
		if test.name == "rolling-queue" {
			want = 7
		}
		if got, _ := ask(request("few", 1)); got != want {
			t.Errorf("%s says %v where there was one wait, want %v", test.name, got, want)
		}
	}
}

// TestOddWaits: baselines do not learn from a job whose times contradict one another.
func TestOddWaits(t *testing.T) {
	m := newBaseline("odd", wholeLog, newRolling)
	for _, j := range []workload.Job{{Submit: 5, Start: 3}, {Submit: 1, Start: 1 << 40}, {Submit: 1}} {
		m.Started(&j)
	}
	if wait, _ := m.Predict(&forecast.Question{}); wait != nil {
		t.Errorf("learnt %v", wait)
	}
}
