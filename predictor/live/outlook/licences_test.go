package outlook

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// licensed returns jobs that wait for one of three licences, one job in twenty minutes on average,
// among as many that wait for nothing but nodes.
func licensed(since, until int64) []workload.Job {
	random := rand.New(rand.NewPCG(uint64(since), 2))
	jobs := varied(since, until)
	free := []int64{since, since, since} // when each licence is free
	for at := since; at < until; at += 1 + int64(1200*random.ExpFloat64()) {
		next := slices.Index(free, slices.Min(free))
		start := max(at, free[next]) + random.Int64N(60)
		free[next] = start + 600 + int64(2300*random.ExpFloat64())
		jobs = append(jobs, workload.Job{
			ID: 1<<40 + at, Request: workload.Request{
				User: "lena", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1, Licences: "matlab:1"}, Limit: 4 * 3600,
			},
			Submit: at, Eligible: at, Start: start, End: min(free[next], start+4*3600), State: workload.Completed,
		})
	}
	return jobs
}

// A job with licences is forecast by the waits of jobs with like licences, once some are known, and
// these do not spoil the forecasts of others.
func TestLicences(t *testing.T) {
	clock := int64(now)
	o := New(Options{Confidence: .95, Now: func() int64 { return clock }})
	m := o.NewModel(nil)
	if err := m.Learn(t.Context(), licensed(now-20*day, now), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()
	type tally struct{ asked, half, most float64 }
	var with, without tally
	coming := licensed(now, now+8*day)
	starts := map[int64]int64{}
	for i := range coming {
		starts[coming[i].ID] = coming[i].Start
	}
	for _, e := range forecast.Events(coming) {
		clock = e.At
		if e.Kind == forecast.Submitted {
			a, ok := o.Predict(e.Job.Request, 0)
			if !ok {
				t.Fatalf("%+v: %s", e.Job.Request, a.Down)
			}
			count := &without
			if e.Job.Licences != "" {
				count = &with
			}
			count.asked++
			wait := float64(starts[e.Job.ID] - e.At)
			for level, held := range map[float64]*float64{.5: &count.half, .95: &count.most} {
				if wait <= a.Wait.Quantile(level) {
					*held++
				}
			}
		}
		m.Observe(&e)
	}
	for name, c := range map[string]tally{"with licences": with, "without": without} {
		half, most := c.half/c.asked, c.most/c.asked
		t.Logf("%s: of %v waits .5 covers %.2f and .95 covers %.3f", name, c.asked, half, most)
		if half < .4 || half > .65 || most < .92 {
			t.Errorf("%s: .5 covers %.2f and .95 covers %.3f", name, half, most)
		}
	}
	other := coming[len(coming)-1].Request
	other.Licences, other.NodeSet = "matlab:1", "n[1-2]"
	if a, ok := o.Predict(other, 0); !ok {
		t.Errorf("on some nodes: %s", a.Down)
	}
	other.Licences = "matlab:3"
	if a, ok := o.Predict(other, 0); ok || !strings.HasPrefix(a.Down, "0 jobs with licences like matlab:3 are known to have started in partition main, and a forecast needs 20") {
		t.Errorf("for other licences: %v, %s", ok, a.Down)
	}
}
