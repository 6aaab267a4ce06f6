package twin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

func ranked(user, account, partition, qos string, priority int64) *workload.Job {
	return &workload.Job{Request: workload.Request{User: user, Account: account, Partition: partition, QOS: qos}, Priority: priority}
}

// TestExpectedPriority: a new job has the priority of those who are most like it.
func TestExpectedPriority(t *testing.T) {
	var p priorities
	ask := func(user, account, partition, qos string) int64 {
		return p.expected(&ranked(user, account, partition, qos, 0).Request)
	}
	p.submitted(ranked("eve", "phys", "main", "normal", 0))
	p.changed(ranked("eve", "phys", "main", "normal", 9))
	if got := ask("eve", "phys", "main", "normal"); got != 0 {
		t.Errorf("%d, though no job has had a priority", got)
	}
	p.submitted(ranked("alice", "phys", "main", "normal", 1000))
	p.submitted(ranked("alice", "phys", "main", "normal", 800))
	p.submitted(ranked("bob", "phys", "main", "normal", 600))
	p.submitted(ranked("bob", "chem", "main", "high", 5000))
	p.changed(ranked("bob", "chem", "main", "high", 4000))
	for _, c := range []struct {
		user, account, partition, qos string
		least, most                   int64
	}{
		{"alice", "phys", "main", "normal", 800, 800},
		{"bob", "chem", "main", "high", 4000, 4000},   // as it is now
		{"eve", "phys", "main", "normal", 780, 800},   // the account's
		{"alice", "chem", "main", "normal", 780, 800}, // those of the partition and the QOS
		{"eve", "bio", "main", "high", 5000, 5000},
		{"eve", "bio", "long", "normal", 1800, 1960}, // all
	} {
		if got := ask(c.user, c.account, c.partition, c.qos); got < c.least || got > c.most {
			t.Errorf("%s of %s in %s with %s: %d, want %d to %d", c.user, c.account, c.partition, c.qos, got, c.least, c.most)
		}
	}
	for than, want := range map[int64]float64{5000: 0, 999: .5, 600: .75, 0: 1} {
		if got := p.later(than); got != want {
			t.Errorf("%g go before %d, want %g", got, than, want)
		}
	}
	lowered := ranked("alice", "phys", "main", "normal", 300)
	lowered.Nice = 500
	p.submitted(lowered)
	if got := ask("alice", "phys", "main", "normal"); got != 800 {
		t.Errorf("after a job of a lower priority: %d", got)
	}
	for nice, want := range map[int64]int64{500: 300, 5000: 1} {
		lowered.Nice = nice
		if got := p.expected(&lowered.Request); got != want {
			t.Errorf("lowered by %d: %d, want %d", nice, got, want)
		}
	}
	p.aging = workload.Aging{Weight: 100, Max: 1000}
	waits := ranked("alice", "phys", "main", "normal", 700)
	waits.Submit = 5000
	for at, want := range map[int64]int64{4000: 700, 5000: 700, 5500: 750, 6000: 800, 9000: 800} {
		if got := p.of(waits, at); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
}

// TestPlace: a job is behind those of higher priority, by its own priority if it waits already, and
// otherwise by the one that is expected.
func TestPlace(t *testing.T) {
	b := sit(poolOf(10))
	submit := func(user string, priority int64) workload.Job {
		b.id++
		j := workload.Job{ID: b.id, Submit: 1010, Priority: priority}
		j.User, j.CPUs, j.Limit = user, 6, 300
		b.q.Submit(j)
		b.w.Submitted(&j)
		return j
	}
	b.start(1000, b.submit(1000, 8, 600))
	low, _, high := submit("low", 100), submit("middle", 200), submit("high", 300)
	type place struct{ wait, ahead int64 }
	var places []place // by the number of jobs ahead
	for _, c := range []struct {
		user  string
		job   int64
		ahead int
		later float64
	}{
		{"high", high.ID, 0, 0},
		{"high", 0, 1, 0}, // the older one is ahead
		{"middle", 0, 2, 1. / 3},
		{"low", low.ID, 2, 2. / 3},
		{"low", 0, 3, 2. / 3},
	} {
		r := workload.Request{User: c.user, Size: workload.Size{CPUs: 6}, Limit: 300}
		p := b.w.Point(&r, 1020, c.job)
		got := place{p.ByOrder[rollout.Priority], p.Ahead}
		if len(places) == c.ahead {
			places = append(places, got)
		}
		if !p.Ordered || p.Later != c.later || got != places[c.ahead] || c.ahead > 0 && (got.wait <= places[c.ahead-1].wait || got.ahead <= places[c.ahead-1].ahead) {
			t.Errorf("%s, job %d: %+v, %.2f later, want %d jobs ahead and %.2f later; places %+v", c.user, c.job, got, p.Later, c.ahead, c.later, places)
		}
	}
}

// TestPrioritiesAreTheOrder: whatever order was learnt while no priorities were known, once they
// are a job is behind all that go before it by them.
func TestPrioritiesAreTheOrder(t *testing.T) {
	const waiting = 5
	lwf := slices.Index(hypotheses[:], hypothesis{Policy: rollout.Policy{Order: rollout.LWF, Backfill: sched.EASY}})
	for _, c := range []struct {
		priority int64
		policy   string
		wait     int64
		alike    bool // whichever the order
	}{
		{0, "least work first with EASY backfilling", 590, false},
		{1, "priorities with EASY backfilling", 590 + waiting*3600, true},
	} {
		b := sit(poolOf(10))
		b.w.partitions.pool(b.w.partitions.at(workload.Place{})).best = lwf
		b.start(1000, b.submit(1000, 10, 600))
		for range waiting {
			b.id++
			j := workload.Job{ID: b.id, Submit: 1000, Priority: c.priority}
			j.CPUs, j.Limit = 10, 3600
			b.q.Submit(j)
			b.w.Submitted(&j)
		}
		p := b.w.Point(request(10, 60), 1010, 0)
		alike := slices.Min(p.ByOrder[:]) == slices.Max(p.ByOrder[:])
		if p.Limits != c.wait || alike != c.alike || p.Policy.String() != c.policy {
			t.Errorf("with priority %d: %+v, want %d s by %s", c.priority, p, c.wait, c.policy)
		}
	}
}

// TestQOSFull: a job whose QOS is full is ahead of that QOS only.
func TestQOSFull(t *testing.T) {
	b := sit(poolOf(10))
	b.start(1000, b.submit(1000, 8, 600))
	asked := request(6, 300)
	before := b.w.Point(asked, 1020, 0)
	j := workload.Job{ID: 99, Submit: 1010}
	j.QOS, j.CPUs, j.Limit = "small", 6, 300
	b.q.Submit(j)
	b.w.Submitted(&j)
	ahead := b.w.Point(asked, 1020, 0)
	j.QOSFull = true
	b.q.Change(&j)
	full := b.w.Point(asked, 1020, 0)
	asked.QOS = "small"
	if own := b.w.Point(asked, 1020, 0); ahead == before || full != before || own.Limits != ahead.Limits {
		t.Errorf("%+v, %+v behind a job, %+v when its QOS is full, and %+v of that QOS", before, ahead, full, own)
	}
}

// TestLearnsSlurmsOrder: where jobs start by priorities that their users have, a twin that knows
// them finds that out, and predicts waits better.
func TestLearnsSlurmsOrder(t *testing.T) {
	const procs, users = 64, 8
	random := rand.New(rand.NewPCG(1, 1))
	ended, priority := new(synthetic.Ended), map[int64]int64{}
	s := sim.New(sched.Config{Procs: procs, Backfill: sched.EASY, Order: sched.Order{Key: func(_ int64, j *sched.Job) float64 { return float64(j.User) }}}, ended)
	now := int64(1e9)
	for id := range int64(4000) {
		now += int64(random.ExpFloat64() * 300)
		s.Advance(now)
		limit := int64(600) << random.IntN(5)
		j := sched.Job{ID: id + 1, Submit: now, Procs: 1 << random.IntN(6), Limit: limit, Run: 1 + random.Int64N(limit), User: int32(random.IntN(users))}
		priority[j.ID] = 1000 - 100*int64(j.User)
		s.Submit(&j)
	}
	s.Drain()
	errorOf := func(known bool) (float64, rollout.Policy) {
		jobs := slices.Clone(ended.Jobs())
		for i := range jobs {
			if known {
				jobs[i].Priority = priority[jobs[i].ID]
			}
		}
		q := new(queue.Queue)
		w := New(q, poolOf(procs))
		sum, n := 0., 0
		err := forecast.Replay(jobs, q, []forecast.Observer{w}, func(j *workload.Job) error {
			if n++; n > len(jobs)/2 {
				wait, _ := j.Wait()
				p := w.Point(&j.Request, j.Submit, 0)
				sum += max(logWait(float64(p.Expected)), logWait(float64(wait))) - min(logWait(float64(p.Expected)), logWait(float64(wait)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return sum / float64(n/2), w.Snapshot(request(1, 1), now, 0).Policy
	}
	without, _ := errorOf(false)
	with, policy := errorOf(true)
	t.Logf("errors of log(60 s + wait): %.3f with priorities, %.3f without", with, without)
	if want := (rollout.Policy{Order: rollout.Priority, Backfill: sched.EASY}); policy != want || with > .8*without {
		t.Errorf("%v, want %v; error %.3f with priorities, %.3f without", policy, want, with, without)
	}
}
