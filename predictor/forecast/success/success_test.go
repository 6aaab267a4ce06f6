package success

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func job(user, series string, nodes int32, limit int64, state workload.State) *workload.Job {
	j := &workload.Job{Start: 1, State: state, Series: series}
	j.User, j.Nodes, j.Limit = user, nodes, limit
	return j
}

// What a user's jobs are known by counts more than what others' jobs are known by.
func TestProb(t *testing.T) {
	var l Learner
	nobody := job("", "", 1, 60, workload.Completed)
	if p := l.Prob(nobody); p != prior {
		t.Errorf("nothing is known: %v", p)
	}
	for range 50 {
		l.Learn(job("alice", "solve", 1, 600, workload.Completed))
		l.Learn(job("alice", "test", 8, 60, workload.Failed))
		l.Learn(job("bob", "", 1, 600, workload.TimedOut))
	}
	ask := func(user string, nodes int32, limit int64, name string) float64 {
		return l.Prob(job(user, name, nodes, limit, workload.Pending))
	}
	solve, test := ask("alice", 1, 600, "solve"), ask("alice", 8, 60, "test")
	shape, other, carol := ask("alice", 1, 600, "new"), ask("alice", 2, 30, ""), ask("carol", 1, 600, "solve")
	if solve < .9 || test > .1 || shape < other || solve < shape || ask("bob", 1, 600, "") > .15 {
		t.Errorf("solve %v, test %v, shape %v, other %v", solve, test, shape, other)
	}
	if share := l.all.good / l.all.n; math.Abs(carol-share) > .05 {
		t.Errorf("of an unknown user: %v, of all jobs %v", carol, share)
	}
	for range 30 { // she has mended it
		l.Learn(job("alice", "test", 8, 60, workload.Completed))
	}
	if p := ask("alice", 8, 60, "test"); p < .8 {
		t.Errorf("after it was mended: %v", p)
	}
	before := l
	l.Learn(job("alice", "test", 8, 60, workload.Requeued))
	l.Learn(&workload.Job{State: workload.Cancelled})
	if l.learnt != before.learnt {
		t.Error("a job that did not start, or starts again, was learnt from")
	}
}

// Estimates come true as often as they say where users' habits differ, and are better than the
// share of all jobs.
func TestCalibration(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	habits := map[string]float64{}
	for i := range 40 {
		habits[fmt.Sprint("user", i)] = math.Sqrt(random.Float64())
	}
	var l Learner
	said, came, n, loss, lossOfAll := 0., 0., 0, 0., 0.
	for i := range 20_000 {
		user := fmt.Sprint("user", random.IntN(40))
		j := job(user, "", 1<<random.IntN(3), 600, workload.Failed)
		if random.Float64() < habits[user] {
			j.State = workload.Completed
		}
		if i > 2000 {
			p, all := l.Prob(j), l.all.good/l.all.n
			y := 0.
			if j.State == workload.Completed {
				y = 1
			}
			said, came, n = said+p, came+y, n+1
			loss, lossOfAll = loss+(p-y)*(p-y), lossOfAll+(all-y)*(all-y)
		}
		l.Learn(j)
	}
	if math.Abs(said-came)/float64(n) > .01 || loss > .85*lossOfAll {
		t.Errorf("said %v, came %v, loss %v of %v", said/float64(n), came/float64(n), loss, lossOfAll)
	}
}

// Whoever submits how many jobs of how many names, memory is bounded.
func TestBounded(t *testing.T) {
	var l Learner
	for i := range 3 * mostShares {
		l.Learn(job("alice", fmt.Sprint(i), 1, 60, workload.Completed))
	}
	if n := len(l.shares[bySeries]); n > mostShares+1 || n < mostShares/4 {
		t.Errorf("%d shares", n)
	}
	if p := l.Prob(job("alice", fmt.Sprint(3*mostShares-1), 1, 60, workload.Pending)); p < .95 {
		t.Errorf("the newest: %v", p)
	}
}
