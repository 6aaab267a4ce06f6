package trajectory

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func TestCareful(t *testing.T) {
	for _, c := range []struct {
		e    workload.Estimate
		want string
	}{
		{workload.Estimate{Prob: .9, Forecast: .94, Bound: .92, Sample: 1000}, ""},
		{workload.Estimate{Prob: .07, Forecast: .6, Bound: .535, Sample: 25}, "the forecast is 0.60, and a promise counts on 0.53, as only 25 past waits are known, and counts the risk of being late 2.0 times, until more promises have been kept"},
		{workload.Estimate{Prob: .53, Forecast: .6, Bound: .53, Sample: 25}, "the forecast is 0.60, and a promise counts on 0.53, as only 25 past waits are known"},
		{workload.Estimate{Forecast: 1, Bound: 1}, ""},
	} {
		if got := Careful(&c.e); got != c.want {
			t.Errorf("%+v: %q", c.e, got)
		}
	}
}

// Room is blamed where room is what lacks. Otherwise the work that waits is.
func TestRefusalBlamesWhatLacks(t *testing.T) {
	waiting := func(j workload.Job) *workload.Job {
		j.Partition, j.Nodes, j.Limit = "main", 4, hour
		return &j
	}
	jobs := []*workload.Job{waiting(workload.Job{ID: 1, Submit: noon - 60}), waiting(workload.Job{ID: 2, Submit: noon - 60, Tasks: 9}), waiting(workload.Job{ID: 3, Submit: noon - 60, Start: noon - 30})}
	for _, c := range []struct {
		mean, room float64
		want       string
	}{
		{hour / 4, .8, "running jobs and other promises leave too little room at the deadline: a start by"},
		{hour, .8, "beside 10 waiting jobs (40.0 node-hours by their time limits) a start by"},
	} {
		p := &Planner{Forecaster: curve{mean: c.mean, sample: 1000}, Cluster: site(nil), Room: from(noon+24*hour, c.room), Jobs: slices.Values(jobs)}
		if a := p.Decide(request(1, hour, .9)); a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, c.want) {
			t.Errorf("%+v", a.Refusal)
		}
	}
}
