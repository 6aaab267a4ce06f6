package chain

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

func request(j *sched.Job) workload.Request {
	return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
}

// end is a job long after the chains.
var end = sched.Job{ID: 99, Submit: 100_000, Procs: 1, Limit: 1, Run: 1}

// A job comes while the first link runs. It needs all processors, as links do. Nothing is promised,
// as nothing is known yet.
func TestBehindAJob(t *testing.T) {
	jobs := []sched.Job{{ID: 1, Submit: 0, Procs: 4, Limit: 10, Run: 10}, {ID: 2, Submit: 1050, Procs: 4, Limit: 50, Run: 50}, end}
	e := Experiment{Procs: 4, Request: request, Chains: []Chain{{Begin: 1000, Links: 3, Link: sched.Job{Procs: 4, Limit: 100}}}}
	for way, c := range map[Way]struct {
		pairs []Pair
		wait  float64
	}{
		AtEnd:       {[]Pair{{Gap: 50}, {}}, 50},
		AfterAny:    {[]Pair{{}, {Gap: 50}}, 150},
		Independent: {[]Pair{{}, {Gap: 50}}, 150},
		MeanWait:    {[]Pair{{Gap: 50}, {}}, 50},
		Promised:    {[]Pair{{Gap: 50}, {}}, 50},
	} {
		want := Result{Pairs: c.pairs, Work: 1200, Others: 2, Wait: c.wait, Machine: 400_000, Taken: 1440, Chains: 1200}
		if d := cmp.Diff(want, e.Run(jobs, way)); d != "" {
			t.Errorf("%d: %s", way, d)
		}
	}
}

// A link that starts while the one before it runs idles, and that is taken off its work.
func TestOverlap(t *testing.T) {
	chains := []Chain{{Begin: 1000, Links: 3, Link: sched.Job{Procs: 2, Limit: 100}}}
	for name, c := range map[string]struct {
		way        Way
		jobs       []sched.Job
		pairs      []Pair
		work, idle float64
	}{
		"as soon as it can": {
			Independent, []sched.Job{{ID: 1, Submit: 900, Procs: 2, Limit: 140, Run: 140}, end},
			[]Pair{{Idle: 60}, {Idle: 40}}, 400, 200,
		},
		"all at once": {
			Independent, []sched.Job{{ID: 1, Submit: 900, Procs: 2, Limit: 10, Run: 10}, end},
			[]Pair{{Idle: 100}, {}}, 400, 200,
		},
		// The waits of two processors are 60 and 0, and then 60, 0 and 0.
		"by the mean wait": {
			MeanWait, []sched.Job{{ID: 1, Procs: 4, Limit: 60, Run: 60}, {ID: 2, Procs: 2, Limit: 10, Run: 10}, end},
			[]Pair{{Idle: 30}, {Idle: 20}}, 500, 100,
		},
	} {
		e := Experiment{Procs: 4, Request: request, Chains: chains}
		got := e.Run(c.jobs, c.way)
		if d := cmp.Diff(c.pairs, got.Pairs); d != "" || got.Work != c.work || got.Idle != c.idle {
			t.Errorf("%s: %s work %v, idle %v", name, d, got.Work, got.Idle)
		}
	}
}

// On a calm cluster, a start is promised, and the link works for all of its limit.
func TestPromised(t *testing.T) {
	const learning = 400
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []sched.Job
	for i := range int64(learning) {
		jobs = append(jobs, sched.Job{ID: 1 + i, Submit: 2000 * i, Limit: 7200, Run: 7000 + random.Int64N(200), Procs: 1 + int32(i%2)})
	}
	last := jobs[learning-1].Submit
	jobs = append(jobs, sched.Job{ID: learning + 1, Submit: last + 100_000, Limit: 1, Run: 1, Procs: 1})
	e := Experiment{Procs: 8, Request: request, Chains: []Chain{{Begin: last + 10_000, Links: 3, Link: sched.Job{Procs: 2, Limit: 7200}}}}
	got := e.Run(jobs, Promised)
	if got.Work != 3*2*7200 || got.Idle == 0 || got.Chains != got.Work+got.Idle || len(got.Pairs) != 2 {
		t.Errorf("%+v", got)
	}
	for _, p := range got.Pairs {
		if p.Gap != 0 || p.Idle > 1800 || p.Prob == 0 {
			t.Errorf("%+v", p)
		}
	}
}

// calm forecasts that jobs start by the deadline if they come some seconds before it. From a time
// on it is enough that they come by it.
type calm struct{ from, deadline, before int64 }

func (f calm) Forecast(_ workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		if now >= f.from || c[i].Submit <= f.deadline-f.before {
			est[i].Prob = 1
		}
	}
}

// A link is put off when it need not come as early any more.
func TestReplan(t *testing.T) {
	jobs := []sched.Job{{ID: 1, Procs: 1, Limit: 1, Run: 1}, end}
	for from, idle := range map[int64]int64{7000: 3000, 3000: 30} {
		e := Experiment{Procs: 4, Request: request, Chains: []Chain{{Begin: 1000, Links: 2, Link: sched.Job{Procs: 2, Limit: 7200}}}}
		r := newRun(&e, Promised)
		r.varqd.planner.Forecaster = calm{from, 8200, 3000}
		want := []Pair{{Idle: idle, Prob: Ladder[0]}}
		if d := cmp.Diff(want, r.replay(jobs).Pairs); d != "" {
			t.Errorf("from %d on: %s", from, d)
		}
	}
}

// When the log is over, no link is submitted.
func TestAfterTheLog(t *testing.T) {
	jobs := []sched.Job{{ID: 1, Procs: 1, Limit: 1, Run: 1}, end}
	e := Experiment{Procs: 4, Request: request, Chains: []Chain{{Begin: end.Submit - 50, Links: 3, Link: sched.Job{Procs: 2, Limit: 100}}}}
	if got := e.Run(jobs, AtEnd); len(got.Pairs) != 0 || got.Work != 200 || got.Chains != 100 {
		t.Errorf("%+v", got)
	}
}

// Links idle or come late, and not both.
func TestBusy(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var jobs []sched.Job
	for i := range int64(600) {
		jobs = append(jobs, sched.Job{ID: 1 + i, Submit: 300 * i, Limit: 3600, Run: 1 + random.Int64N(3600), Procs: 1 + random.Int32N(8)})
	}
	e := Experiment{Procs: 36, Request: request}
	for i := range int64(5) {
		e.Chains = append(e.Chains, Chain{Begin: 60_000 + 20_000*i, Links: 4, Link: sched.Job{Procs: 4, Limit: 5400}})
	}
	for way := AtEnd; way <= Promised; way++ {
		got := e.Run(jobs, way)
		promises := 0
		for _, p := range got.Pairs {
			if p.Gap < 0 || p.Idle < 0 || p.Gap > 0 && p.Idle > 0 {
				t.Errorf("%d: %+v", way, p)
			}
			if p.Prob > 0 {
				promises++
			}
		}
		if len(got.Pairs) < 8 || (promises > 0) != (way == Promised) || got.Taken > got.Machine || got.Chains > got.Taken {
			t.Errorf("%d: %d promises, %+v", way, promises, got)
		}
		if idle := got.Idle > 0; idle != (way >= Independent) {
			t.Errorf("%d: idle %v", way, got.Idle)
		}
	}
}

// The mean is of the last hundred waits of jobs of like size.
func TestMean(t *testing.T) {
	w := make(waits)
	if got := w.mean(3); got != 0 {
		t.Errorf("of none: %d", got)
	}
	w.add(2, 1e9)
	w.add(4, 7)
	for i := range int64(lastWaits) {
		w.add(3, i%2*10)
	}
	if two, four := w.mean(2), w.mean(5); two != 5 || four != 7 {
		t.Errorf("%d and %d", two, four)
	}
}
