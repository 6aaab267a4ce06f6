package qbets

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// started returns a job of request r that became eligible at a time and waited
// for some seconds.
func started(r workload.Request, eligible, wait int64) workload.Job {
	return workload.Job{Request: r, Submit: eligible, Eligible: eligible, Start: eligible + wait}
}

func TestBoundAndForecastAgainstSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	request := workload.Request{Partition: "batch", Size: workload.Size{Nodes: 4, CPUs: 64}, Limit: 3600}
	p := New(Options{MaxHistory: 500})
	var past []int64
	for i := range 1500 {
		wait := random.Int64N(10_000)
		p.Learn(started(request, int64(1+i), wait))
		past = append(past, wait)
		past = past[max(0, len(past)-500):]
		n := p.Bound(request, .5).Sample
		past = past[len(past)-n:] // a change point may have cut

		sorted := slices.Sorted(slices.Values(past))
		for _, q := range []float64{.05, .5, .75, .95, .99} {
			b := p.Bound(request, q)
			k, _, ok := stats.QuantileBound(n, q, .95)
			if b.OK != ok || ok && (b.Seconds != sorted[k-1] || b.Index != k) {
				t.Fatalf("after %d: Bound(%v) = %+v, want index %d of %d", i+1, q, b, k, n)
			}
		}
		budget := random.Int64N(11_000)
		var within, held int64
		for _, w := range past {
			if w <= budget {
				within++
				held += budget - w
			}
		}
		est := make([]workload.Estimate, 1)
		p.Forecast(request, 0, []workload.Candidate{{Limit: request.Limit, Budget: budget}}, est)
		want := workload.Estimate{
			Prob:   stats.LowerProportion(int(within), n, .95),
			Held:   float64(held) / float64(n),
			Sample: n,
			Class:  est[0].Class,
		}
		if est[0] != want {
			t.Fatalf("after %d: Forecast(%d) = %+v, want %+v", i+1, budget, est[0], want)
		}
	}
}
