package features

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func job(random *rand.Rand, id, at int64) workload.Job {
	cpus := int32(1) << random.IntN(6)
	return workload.Job{
		ID: id, Submit: at, Eligible: at,
		Request: workload.Request{
			User: string(rune('a' + random.IntN(5))), Account: string(rune('x' + random.IntN(2))),
			Partition: []string{"batch", "long"}[random.IntN(2)], QOS: []string{"", "high"}[random.IntN(2)],
			Size: workload.Size{Nodes: cpus, CPUs: cpus}, Limit: 600 * (1 + random.Int64N(50)),
		},
	}
}

// live passes the events of n jobs to e, and returns the time after them.
func live(e *Extractor, random *rand.Rand, n int) (now int64) {
	now = 1e9
	for id := range int64(n) {
		j := job(random, id, now)
		e.Submitted(&j)
		now += random.Int64N(300)
		if random.IntN(10) > 0 {
			j.Start = now
			e.Started(&j)
		}
		now += random.Int64N(300)
		if random.IntN(10) > 0 {
			j.End = now
			e.Ended(&j)
		}
	}
	return now
}

func TestFeaturesAreNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	e := New()
	var v Vector
	for _, now := range []int64{1e9, live(e, random, 1000)} {
		for i := range int64(100) {
			j := job(random, -1, now)
			if i == 0 {
				j = workload.Job{}
			}
			e.Look(&j.Request, 0, now, now+i*600, &v)
			for k, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Fatalf("%s is %v", Table[k].Name, x)
				}
			}
		}
	}
}

// TestTable: every feature has a name of its own, and a meaning.
func TestTable(t *testing.T) {
	index := map[string]int{}
	for i, f := range Table {
		if f.Name == "" || f.Meaning == "" {
			t.Errorf("feature %d: %+v", i, f)
		}
		if other, ok := index[f.Name]; ok {
			t.Errorf("features %d and %d are both named %s", other, i, f.Name)
		}
		index[f.Name] = i
	}
}

// TestLastingFeatures: the first features do not depend on which jobs wait now.
func TestLastingFeatures(t *testing.T) {
	const lasting = fastAll
	random := rand.New(rand.NewPCG(2, 2))
	e := New()
	now := live(e, random, 300)
	j := job(random, 1000, now)
	var before, after Vector
	e.Look(&j.Request, 0, now, now+3600, &before)
	waiting := job(random, 1001, now)
	e.Submitted(&waiting)
	e.Look(&j.Request, 0, now, now+3600, &after)
	if [lasting]float32(before[:lasting]) != [lasting]float32(after[:lasting]) {
		t.Error("a job that begins to wait changes lasting features")
	}
	if before == after {
		t.Error("a job that begins to wait changes no feature")
	}
}

// TestQueueIsKept: jobs that have ended are removed from the waiting and the running jobs.
func TestQueueIsKept(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	e := New()
	live(e, random, 500)
	for id := range int64(500) {
		e.Ended(&workload.Job{ID: id})
	}
	q := &e.queue
	w := &q.waiting
	if len(w.jobs)+len(w.requests)+len(w.index)+len(w.users) != 0 || len(q.running) != 0 || len(q.index) != 0 || q.used != 0 {
		t.Errorf("left behind: %d waiting, %d running, %v CPUs", len(w.jobs), len(q.running), q.used)
	}
	if q.most == 0 {
		t.Error("nothing ever ran")
	}
}

// TestLookChangesNothing: concurrent calls of Look agree. The race detector checks them.
func TestLookChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	e := New()
	now := live(e, random, 300)
	stranger := workload.Request{User: "new", Partition: "new", Limit: 1}
	var views [8]Vector
	var all sync.WaitGroup
	for i := range views {
		all.Go(func() { e.Look(&stranger, 0, now, now, &views[i]) })
	}
	all.Wait()
	for i := range views {
		if views[i] != views[0] {
			t.Errorf("look %d differs", i)
		}
	}
}

func TestDecay(t *testing.T) {
	for x := 0.; x < 20; x += .013 {
		if got, want := decay(x), math.Exp(-x); math.Abs(got-want) > .01 {
			t.Errorf("decay(%v) = %v, want %v", x, got, want)
		}
	}
}

// BenchmarkLook looks at 1,000 waiting and 500 running jobs.
func BenchmarkLook(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	e := New()
	now := live(e, random, 1000)
	for id := range int64(1500) {
		j := job(random, 10_000+id, now)
		e.Submitted(&j)
		if id >= 1000 {
			j.Start = now
			e.Started(&j)
		}
	}
	j := job(random, 0, now)
	var v Vector
	for b.Loop() {
		e.Look(&j.Request, 0, now, now, &v)
	}
}

// TestJobIsNotAheadOfItself: to a job that waits the queue looks as it did without the job.
func TestJobIsNotAheadOfItself(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	e := New()
	now := live(e, random, 300)
	j := job(random, 1000, now)
	j.User = "a"
	var before, after Vector
	e.Look(&j.Request, j.ID, now, now, &before)
	e.Submitted(&j)
	e.Look(&j.Request, j.ID, now, now, &after)
	for i := range Count {
		if before[i] != after[i] {
			t.Errorf("%s is %v, and was %v", Table[i].Name, after[i], before[i])
		}
	}
}

// TestTasksCountAsJobs: the tasks of an array that wait are features as so many jobs are.
func TestTasksCountAsJobs(t *testing.T) {
	look := func(submit func(*Extractor, workload.Job)) (v Vector) {
		random := rand.New(rand.NewPCG(6, 6))
		e := New()
		now := live(e, random, 300)
		j := job(random, 1000, now)
		submit(e, j)
		e.Look(&j.Request, 0, now+60, now+60, &v)
		return v
	}
	jobs := look(func(e *Extractor, j workload.Job) {
		for range 7 {
			e.Submitted(&j)
			j.ID++
		}
	})
	array := look(func(e *Extractor, j workload.Job) {
		j.Tasks = 9
		e.Submitted(&j)
		j.Tasks = 7
		e.Changed(&j)
	})
	for i := range Count {
		if jobs[i] != array[i] {
			t.Errorf("%s is %v, and %v with seven jobs", Table[i].Name, array[i], jobs[i])
		}
	}
}
