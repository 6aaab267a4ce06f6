package sizing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/workload"
)

const procs = 32

// made returns jobs that keep a cluster busy, of which a share can have other sizes.
func made(random *rand.Rand, n int, share float64) []Job {
	jobs := make([]Job, n)
	at := int64(1000)
	for i := range jobs {
		at += random.Int64N(400)
		size := 1 + random.Int32N(procs)
		if random.IntN(2) == 0 {
			size = 1 + random.Int32N(4)
		}
		limit := 60 * (1 + random.Int64N(60))
		j := Job{
			ID: int64(i) + 1, Submit: at, Asked: Shape{size, limit, 1 + random.Int64N(limit)},
			Request: workload.Request{Size: workload.Size{Nodes: size, CPUs: size}, Limit: limit},
			Curve:   speedup.Downey{A: 1 + procs*random.Float64(), Sigma: 2 * random.Float64()},
			Least:   size, Most: size,
		}
		if random.Float64() < share {
			j.Mold(min(procs, int32(math.Ceil(j.Curve.(speedup.Downey).A))), 2*3600)
		}
		jobs[i] = j
	}
	return jobs
}

func run(c *Cluster, jobs []Job) map[int64]Outcome {
	all := map[int64]Outcome{}
	for o := range c.Run(jobs) {
		all[o.Job.ID] = o
	}
	return all
}

// starts records starts.
type starts map[int64]int64

func (starts) Reserved(int64, *sched.Job, int64, int64) {}
func (s starts) Started(now int64, j *sched.Job)        { s[j.ID] = now }
func (starts) Stopped(int64, *sched.Job)                {}
func (starts) Ended(int64, *sched.Job)                  {}

// TestRigid: without alternatives, the cluster is that of package sim.
func TestRigid(t *testing.T) {
	for seed := range uint64(60) {
		jobs := made(rand.New(rand.NewPCG(seed, 1)), 300, 0)
		want := starts{}
		s := sim.New(sched.Config{Procs: procs, Backfill: sched.EASY}, want)
		for _, j := range jobs {
			s.Submit(&sched.Job{ID: j.ID, Submit: j.Submit, Limit: j.Asked.Limit, Run: j.Asked.Run, Procs: j.Asked.Procs})
		}
		s.Drain()
		got := run(NewCluster(procs, &queue.Queue{}, Free{}), jobs)
		for id, start := range want {
			if got[id].Start != start {
				t.Fatalf("seed %d, job %d starts at %d, want %d", seed, id, got[id].Start, start)
			}
		}
	}
}

// checking is a Chooser that does as the users asked, and asks the Oracle what comes of that.
type checking struct {
	oracle Oracle
	waits  map[int64]int64
}

func (k *checking) Choose(c *Cluster, j *Job) int32 {
	k.waits[j.ID] = k.oracle.Wait(c, j, j.Asked.Procs)
	return j.Asked.Procs
}

// TestOracle: the wait that the Oracle knows is the one that comes.
func TestOracle(t *testing.T) {
	longest := int64(0)
	for seed := range uint64(20) {
		jobs := made(rand.New(rand.NewPCG(seed, 2)), 600, .5)
		k := &checking{waits: map[int64]int64{}}
		for id, o := range run(NewCluster(procs, &queue.Queue{}, k), jobs) {
			if want, asked := k.waits[id]; asked {
				if got := o.Start - o.Job.Submit; got != want {
					t.Fatalf("seed %d, job %d waits %d s, and not %d", seed, id, got, want)
				}
				longest = max(longest, want)
			}
		}
	}
	if longest < 3600 {
		t.Errorf("no job waits longer than %d s", longest)
	}
}

// alone chooses one size for one job, and for all others what their users asked.
type alone struct {
	id    int64
	procs int32
}

func (a alone) Choose(_ *Cluster, j *Job) int32 {
	if j.ID == a.id {
		return a.procs
	}
	return j.Asked.Procs
}

// TestOptimum: what a job that alone is told the truth chooses is the best of all that it could
// have, by running the whole cluster for each.
func TestOptimum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	jobs := made(random, 250, .5)
	chosen := 0
	for i := 20; i < len(jobs); i += 7 {
		if jobs[i].Rigid() {
			continue
		}
		id := jobs[i].ID
		optimal := &only{id: id, of: &Predicting{Waits: True()}}
		got := run(NewCluster(procs, &queue.Queue{}, optimal), jobs)[id]
		if got.Shape.Procs != jobs[i].Asked.Procs {
			chosen++
		}
		for _, n := range optimal.candidates {
			if o := run(NewCluster(procs, &queue.Queue{}, alone{id, n}), jobs)[id]; o.Turnaround() < got.Turnaround() {
				t.Errorf("job %d takes %d s on %d processors, and %d s on %d", id, got.Turnaround(), got.Shape.Procs, o.Turnaround(), n)
			}
		}
	}
	if chosen < 5 {
		t.Errorf("%d jobs chose another size", chosen)
	}
}

// only lets one job choose.
type only struct {
	id         int64
	of         Chooser
	candidates []int32
}

func (o *only) Choose(c *Cluster, j *Job) int32 {
	if j.ID != o.id {
		return j.Asked.Procs
	}
	o.candidates = j.candidates(c.free)
	return o.of.Choose(c, j)
}

// TestInvariants: no processor is used twice, all jobs run in sizes that they can have, and with
// Free nothing idles that the head of the queue could use.
func TestInvariants(t *testing.T) {
	for seed := range uint64(20) {
		jobs := made(rand.New(rand.NewPCG(seed, 4)), 400, .7)
		all := run(NewCluster(procs, &queue.Queue{}, Free{}), jobs)
		if len(all) != len(jobs) {
			t.Fatalf("%d of %d jobs ended", len(all), len(jobs))
		}
		larger, smaller := 0, 0
		for id, o := range all {
			n := o.Shape.Procs
			if n < o.Job.Least || n > o.Job.Most || o.Shape != o.Job.At(n) || o.Start < o.Job.Submit {
				t.Fatalf("job %d: %+v", id, o)
			}
			if n > o.Job.Asked.Procs {
				larger++
			} else if n < o.Job.Asked.Procs {
				smaller++
			}
			used := int32(0)
			for _, other := range all {
				if other.Start <= o.Start && o.Start < other.End() {
					used += other.Shape.Procs
				}
			}
			if used > procs {
				t.Fatalf("%d processors are used at %d", used, o.Start)
			}
			// first come, first served: the first that waits then needs more
			for _, other := range all {
				if other.Job.Submit < o.Start && other.Start > o.Start && other.Job.Least <= procs-used && o.Job.Submit < other.Job.Submit {
					if first(all, o.Start) == other.Job {
						t.Fatalf("job %d could start at %d on %d processors", other.Job.ID, o.Start, procs-used)
					}
				}
			}
		}
		if larger < 20 || smaller < 20 {
			t.Errorf("%d jobs got more and %d got less than was asked for", larger, smaller)
		}
	}
}

// first returns the job that has waited longest at a time, after all that starts then has started.
func first(all map[int64]Outcome, at int64) *Job {
	var head *Job
	for _, o := range all {
		if o.Job.Submit <= at && o.Start > at && (head == nil || o.Job.ID < head.ID) {
			head = o.Job
		}
	}
	return head
}

func TestMold(t *testing.T) {
	j := Job{Asked: Shape{8, 3600, 1800}, Curve: speedup.Amdahl{}, Request: workload.Request{Size: workload.Size{Nodes: 4, CPUs: 8}}}
	j.Mold(20, 4*3600)
	if j.Least != 2 || j.Most != 20 || j.Rigid() {
		t.Errorf("%d to %d", j.Least, j.Most)
	}
	if s := j.At(4); s != (Shape{4, 7200, 3600}) {
		t.Errorf("%+v", s)
	}
	if s := j.At(7); s.Limit != 4140 || s.Run != 2057 { // 4114.3 s, in whole minutes
		t.Errorf("%+v", s)
	}
	if s := j.At(8); s != j.Asked {
		t.Errorf("%+v", s)
	}
	if r := j.request(j.At(16)); r.Nodes != 8 || r.CPUs != 16 || r.Limit != 1800 {
		t.Errorf("%+v", r)
	}
	if got := fmt.Sprint(j.candidates(5)); got != "[2 4 5 8 16 20]" {
		t.Errorf("%v", got)
	}
	if got := fmt.Sprint(j.candidates(1)); got != "[2 4 8 16 20]" {
		t.Errorf("%v", got)
	}
	if got := fmt.Sprint(j.candidates(30)); got != "[2 4 8 16 20]" {
		t.Errorf("%v", got)
	}
	j.Mold(4, 3600) // on fewer processors it takes too long
	if j.Least != 8 || j.Most != 8 || !j.Rigid() {
		t.Errorf("%d to %d", j.Least, j.Most)
	}
}

// TestAlone: looking at jobs changes nothing, the best is the least, and whoever knows the truth
// finds it.
func TestAlone(t *testing.T) {
	jobs := made(rand.New(rand.NewPCG(1, 5)), 400, .5)
	looked, better := 0, 0
	a := &Alone{
		Strategies: []Predicting{{Waits: True()}, {Waits: func(*Cluster, *Job, int32) float64 { return math.Inf(1) }}},
		Sampled:    func(j *Job) bool { return j.ID%2 == 0 },
		Found: func(j *Job, asked, best int64, by []int64) {
			looked++
			if best < asked {
				better++
			}
			if best > asked || by[0] != best || by[1] != asked || j.ID%2 != 0 {
				t.Errorf("job %d: asked %d, best %d, by %v", j.ID, asked, best, by)
			}
		},
	}
	want := run(NewCluster(procs, &queue.Queue{}, Asked{}), jobs)
	for id, o := range run(NewCluster(procs, &queue.Queue{}, a), jobs) {
		if o.Start != want[id].Start || o.Shape != want[id].Shape {
			t.Fatalf("job %d: %+v", id, o)
		}
	}
	if looked < 50 || better < 20 {
		t.Errorf("%d jobs were looked at, and %d could do better", looked, better)
	}
}

// fickle chooses the most at first, and half as many each time.
type fickle struct{ asked map[int64][]int64 }

func (f fickle) Choose(c *Cluster, j *Job) int32 {
	f.asked[j.ID] = []int64{c.now}
	return j.Most
}
func (fickle) Every() int64 { return 600 }
func (f fickle) Reconsider(c *Cluster, j *Job, held int32) int32 {
	f.asked[j.ID] = append(f.asked[j.ID], c.now)
	return max(j.Least, held/2)
}

// TestReconsider: a job that waits chooses again after the time, and no other does; and the queue
// knows its size.
func TestReconsider(t *testing.T) {
	jobs := made(rand.New(rand.NewPCG(1, 6)), 300, .5)
	f := fickle{map[int64][]int64{}}
	var q queue.Queue
	watch := &watching{t: t, q: &q}
	again := 0
	for id, o := range run(NewCluster(procs, &q, f, watch), jobs) {
		asked := f.asked[id]
		if o.Job.Rigid() != (asked == nil) {
			t.Fatalf("job %d chose at %v", id, asked)
		}
		if asked == nil {
			continue
		}
		want, n := int64(0), o.Job.Most
		for i, at := range asked {
			if at != o.Job.Submit+600*int64(i) || at > o.Start {
				t.Errorf("job %d, of %d, starts at %d and chose at %v", id, o.Job.Submit, o.Start, asked)
			}
			want = at
			if i > 0 {
				n = max(o.Job.Least, n/2)
				again++
			}
		}
		if n != o.Shape.Procs || o.Start-want > 600 {
			t.Errorf("job %d starts at %d on %d processors, and chose %d at %v", id, o.Start, o.Shape.Procs, n, asked)
		}
	}
	if again < 100 {
		t.Errorf("%d choices were made again", again)
	}
}

// watching checks that a job starts on as many processors as it last waited for.
type watching struct {
	t *testing.T
	q *queue.Queue
}

func (w *watching) Submitted(j *workload.Job) {
	if w.q.Job(j.ID).CPUs != j.CPUs {
		w.t.Errorf("the queue has another job %d", j.ID)
	}
}
func (w *watching) Started(j *workload.Job) {
	if w.q.Job(j.ID).CPUs != j.CPUs {
		w.t.Errorf("the queue has another job %d", j.ID)
	}
}
func (*watching) Ended(*workload.Job) {}

// TestPredictingAgain: a job that may choose again does, to what is best then; one that is locked
// in does not.
func TestPredictingAgain(t *testing.T) {
	jobs := made(rand.New(rand.NewPCG(1, 7)), 300, 1)
	known := func(c *Cluster, _ *Job, n int32) float64 {
		if n <= c.free {
			return 0
		}
		return 1e4
	}
	shapes := func(p *Predicting) map[int64]Outcome { return run(NewCluster(procs, &queue.Queue{}, p), jobs) }
	once, again := shapes(&Predicting{Waits: known}), shapes(&Predicting{Waits: known, Again: 60})
	locked := &Predicting{Waits: known, Again: 60}
	locked.LockIn = true
	moved := 0
	for id, o := range shapes(locked) {
		if o.Start != once[id].Start || o.Shape != once[id].Shape {
			t.Fatalf("job %d is locked in, and chooses again", id)
		}
		if o.Shape != again[id].Shape {
			moved++
		}
	}
	if moved < 20 {
		t.Errorf("%d jobs have another size when they choose again", moved)
	}
}
