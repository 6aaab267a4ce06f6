package expert

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// waits returns a job of an hour that waits.
func waits(id, since int64) workload.Job {
	return workload.Job{ID: id, Submit: since, Eligible: since, Request: workload.Request{User: "a", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}}
}

// TestLooks: each look sees a few of the jobs that wait, each as likely as the others, and looks
// are at least half an hour apart.
func TestLooks(t *testing.T) {
	var q queue.Queue
	w := newWatch(&q, rand.New(rand.NewPCG(1, 1)), nil)
	if jobs := w.sample(); len(jobs) != 0 {
		t.Errorf("%d of no jobs", len(jobs))
	}
	const n = 40
	for id := range int64(n) {
		q.Submit(waits(id+1, 0))
		if jobs := w.sample(); len(jobs) != min(int(id)+1, looked) {
			t.Fatalf("%d of %d jobs", len(jobs), id+1)
		}
	}
	seen := map[int64]int{}
	const times = 5000
	for range times {
		for _, j := range w.sample() {
			seen[j.ID]++
		}
	}
	for id := range int64(n) {
		if share := float64(seen[id+1]) / times; math.Abs(share-float64(looked)/n) > .03 {
			t.Errorf("job %d is seen by %.3f of the looks", id+1, share)
		}
	}
	e := features.New()
	last := int64(-1)
	for now := range int64(100_000) {
		before := w.next
		w.look(e, now)
		if w.next == before {
			continue
		}
		if last >= 0 && now-last < lookEvery*3/4 {
			t.Errorf("a look at %d after one at %d", now, last)
		}
		last = now
	}
	if last < 90_000 {
		t.Errorf("the last look was at %d", last)
	}
}

// TestWhoTeaches: jobs that wait for something of their own are not looked at, and their starts
// count for nothing.
func TestWhoTeaches(t *testing.T) {
	for name, change := range map[string]func(*workload.Job){
		"":         func(*workload.Job) {},
		"at limit": func(j *workload.Job) { j.AtLimit = true },
		"narrow":   func(j *workload.Job) { j.NodeSet = "n[1-2]" },
		"array":    func(j *workload.Job) { j.Tasks = 7 },
	} {
		j := waits(1, 0)
		if change(&j); teaches(&j) != (name == "") {
			t.Errorf("%s: %v", name, teaches(&j))
		}
	}
	w := newWatch(&queue.Queue{}, rand.New(rand.NewPCG(1, 1)), nil)
	var v features.Vector
	for id := range int64(1000) {
		j := waits(id+1, 10*id)
		w.submitted(&j, &v)
		j.Start, j.AtLimit = j.Submit+100, true
		w.started(&j)
	}
	w.hazards.Grow(1e6)
	w.hazards.Grow(2e6)
	if odds := w.logOdds(nil, &v, 3600, 0, 0); slices.ContainsFunc(odds, func(x float32) bool { return x != 0 }) {
		t.Errorf("log-odds %v are known", odds)
	}
}

// TestSight: a sight has what the job needs, how long it has waited, and the hours of now and of
// its end.
func TestSight(t *testing.T) {
	v := features.Vector{0: 1}
	s := sight(&v, 7200, 0, 5*24*3600+3600)
	age := features.Delay(5*24*3600 + 3600)
	want := append(slices.Clone(v[:]), age, age-float32(math.Log(7200)), 1, 24+1, 3)
	if !slices.Equal(s, want) {
		t.Errorf("%v, want %v", s[features.Count:], want[features.Count:])
	}
}

// TestForestKnowsOfAStandstill: jobs start after a minute, until none does any more. Before any of
// those that wait has started, the forest has learnt from them that log-odds are low, though its
// delays are still those of a minute.
func TestForestKnowsOfAStandstill(t *testing.T) {
	var q queue.Queue
	rng := rand.New(rand.NewPCG(2, 2))
	f := NewForest(rng, twin.New(&q, nil), nil)
	now := int64(1e9)
	submit := func(id int64) workload.Job {
		j := waits(id, now)
		q.Submit(j)
		f.Submitted(&j)
		return j
	}
	for id := int64(1); id <= 2000; id++ {
		j := submit(id)
		now += 60 + rng.Int64N(60)
		j.Start = now
		q.Start(j)
		f.Started(&j)
		now += 600
		j.End = now
		q.Remove(id)
		f.Ended(&j)
	}
	logOdds := func() []float32 {
		j := waits(-1, now)
		question := forecast.AtSubmission(&j)
		v := f.situation(&question).features
		return f.watch.logOdds(nil, &v, j.Limit, now, now)
	}
	before := logOdds()
	for id := int64(2001); id <= 2600; id++ {
		submit(id)
		now += 600
	}
	for i, after := range logOdds() {
		if before[i] < 2 || after > before[i]-2 {
			t.Errorf("within %d s: %.2f before, %.2f after", horizons[i], before[i], after)
		}
	}
	if n := f.model.Learnt(); n != 2000 {
		t.Errorf("%d delays are known", n)
	}
}

// BenchmarkLook looks at a few of 20,000 jobs that wait.
func BenchmarkLook(b *testing.B) {
	var q queue.Queue
	e := features.New()
	w := newWatch(&q, rand.New(rand.NewPCG(1, 1)), nil)
	for id := range int64(20_000) {
		j := waits(id+1, id)
		j.Limit += id % 500 * 60
		q.Submit(j)
		e.Submitted(&j)
	}
	now := int64(20_000)
	for b.Loop() {
		now += 2 * lookEvery
		w.look(e, now)
	}
}
