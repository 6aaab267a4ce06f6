package qos

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// naive is the same cluster, simulated second by second, with lists instead of all data structures.
type naive struct {
	Config
	known   float64 // the oracle's accuracy
	now     int64
	down    []int64 // until when
	waiting []*naiveJob
	running []*naiveJob
	result  Result
	ended   int
}

type naiveJob struct {
	Job
	nodes    []int
	from, to int64
	deadline int64
	prob     float64
	done     int64 // work
	saved    int64
	safe     int64
	began    int64
	since    int64 // work since the last checkpoint or request
	requests int   // denied since the last checkpoint
	setbacks int
	writing  int64 // seconds that the checkpoint takes yet
	wrote    int64 // when it began
}

func (n *naive) failuresAt(t int64) (list []Failure) {
	for _, f := range n.Failures.failures {
		if t%n.Failures.period == f.At {
			list = append(list, f)
		}
	}
	return list
}

// fails returns what the oracle says of some nodes.
func (n *naive) fails(nodes []int, from, to int64) float64 {
	for t := from; t < to; t++ {
		for _, f := range n.failuresAt(t) {
			if slices.Contains(nodes, f.Node) && f.Detectability <= n.known {
				return f.Detectability
			}
		}
	}
	return 0
}

func (n *naive) isFree(node int, t int64) bool {
	for _, j := range slices.Concat(n.waiting, n.running) {
		if slices.Contains(j.nodes, node) && j.from <= t && t < j.to {
			return false
		}
	}
	return n.down[node] <= t
}

func (n *naive) place(j *naiveJob, risk float64) float64 {
	length := int64(0)
	for left := j.Work - j.saved; left > 0; left -= n.Interval {
		length += min(left, n.Interval)
		if left > n.Interval {
			length += n.Overhead
		}
	}
	first, least := int64(-1), 2.
	for s := n.now; first < 0 || s <= first+n.Horizon; s++ {
		changes := s == n.now || len(slices.DeleteFunc(n.failuresAt(s-n.Downtime), func(f Failure) bool { return f.Detectability > n.known })) > 0
		for node := range n.Nodes {
			changes = changes || n.isFree(node, s) != n.isFree(node, s-1)
		}
		if !changes {
			continue
		}
		type node struct {
			number int
			fails  float64
		}
		var free []node
		window := max(n.now, s-n.Downtime+1)
		for number := range n.Nodes {
			all := true
			for t := s; t < s+length; t++ {
				all = all && n.isFree(number, t)
			}
			if all {
				free = append(free, node{number, n.fails([]int{number}, window, s+length)})
			}
		}
		if len(free) < j.Nodes {
			continue
		}
		if first < 0 {
			first = s
		}
		slices.SortStableFunc(free, func(a, b node) int { return cmp.Compare(a.fails, b.fails) })
		var nodes []int
		for _, f := range free[:j.Nodes] {
			nodes = append(nodes, f.number)
		}
		fails := n.fails(nodes, window, s+length)
		if fails < least {
			least, j.from, j.to = fails, s, s+length
			j.nodes = nodes
		}
		if 1-fails >= risk {
			break
		}
	}
	n.waiting = append(n.waiting, j)
	slices.SortStableFunc(n.waiting, func(a, b *naiveJob) int { return cmp.Compare(a.from, b.from) })
	return least
}

func (n *naive) leave(j *naiveJob) {
	n.running = slices.DeleteFunc(n.running, func(r *naiveJob) bool { return r == j })
	n.result.Occupied += float64(n.now-j.began) * float64(j.Nodes)
}

// patient counts a setback, and reports whether the job goes on.
func (n *naive) patient(j *naiveJob) bool {
	if j.setbacks++; j.setbacks <= n.Patience {
		return true
	}
	n.ended++
	n.result.Missed++
	n.result.Abandoned++
	return false
}

func (n *naive) fail(node int) {
	var victim *naiveJob
	for _, j := range n.running {
		if slices.Contains(j.nodes, node) {
			victim = j
		}
	}
	if victim != nil {
		n.leave(victim)
		n.result.Interrupted++
		n.result.Lost += float64(n.now-victim.safe) * float64(victim.Nodes)
	}
	n.down[node] = n.now + n.Downtime
	planned := map[*naiveJob]int64{}
	for _, j := range n.waiting {
		planned[j] = j.from
	}
	for moved := true; moved; {
		moved = false
		move := func(j *naiveJob, from int64) {
			if j.from < from {
				j.from, j.to, moved = from, from+j.to-j.from, true
			}
		}
		for k, j := range n.waiting {
			if slices.Contains(j.nodes, node) {
				move(j, n.down[node])
			}
			for _, before := range n.waiting[:k] {
				if slices.ContainsFunc(before.nodes, func(node int) bool { return slices.Contains(j.nodes, node) }) {
					move(j, before.to)
				}
			}
		}
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(j *naiveJob) bool { return j.from != planned[j] && !n.patient(j) })
	slices.SortStableFunc(n.waiting, func(a, b *naiveJob) int { return cmp.Compare(a.from, b.from) })
	if victim == nil {
		return
	}
	if n.patient(victim) {
		n.place(victim, 0)
	}
}

// second simulates what happens now.
func (n *naive) second(arriving []Job) {
	for _, j := range slices.Clone(n.running) {
		switch {
		case j.writing > 0:
			if j.writing--; j.writing == 0 {
				j.saved, j.safe, j.since, j.requests = j.done, j.wrote, 0, 0
			}
		case n.now > j.began:
			j.done++
			j.since++
		}
		if j.done < j.Work {
			continue
		}
		n.leave(j)
		n.ended++
		work := float64(j.Work) * float64(j.Nodes)
		n.result.Work += work
		n.result.Turnaround += float64(n.now - j.Submit)
		if n.now <= j.deadline {
			n.result.QoS += work * j.prob
		} else {
			n.result.Missed++
		}
	}
	for _, f := range n.failuresAt(n.now) {
		n.fail(f.Node)
	}
	for _, a := range arriving {
		j := &naiveJob{Job: a}
		fails := n.place(j, n.Risk)
		j.prob, j.deadline = 1-fails, j.to
		n.result.Promised += float64(j.Work) * float64(j.Nodes) * j.prob
		if j.prob < n.Risk {
			n.result.Risky++
		}
	}
	for _, j := range slices.Clone(n.waiting) {
		if j.from == n.now {
			n.waiting = slices.DeleteFunc(n.waiting, func(w *naiveJob) bool { return w == j })
			n.running = append(n.running, j)
			j.began, j.safe, j.done, j.since, j.requests, j.writing = n.now, n.now, j.saved, 0, 0, 0
		}
	}
	for _, j := range n.running {
		if j.since < n.Interval || j.done >= j.Work || j.writing > 0 {
			continue
		}
		j.requests++
		j.since = 0
		n.result.Requested++
		left := j.Work - j.done
		until := n.now + n.Overhead + left
		if left > n.Interval {
			until = n.now + 2*n.Overhead + n.Interval
		}
		if n.Checkpoint(Request{
			Now: n.now, Fails: n.fails(j.nodes, n.now, until), Nodes: j.Nodes, Intervals: j.requests,
			Interval: n.Interval, Overhead: n.Overhead, Remaining: left, Deadline: j.deadline,
		}) {
			j.writing, j.wrote = n.Overhead, n.now
			n.result.Performed++
		}
	}
}

func (n *naive) run(jobs []Job) Result {
	n.down = make([]int64, n.Nodes)
	n.now = jobs[0].Submit
	all, next, last := 0., 0, int64(0)
	for ; n.ended < len(jobs); n.now++ {
		from := next
		for next < len(jobs) && jobs[next].Submit == n.now {
			all += float64(jobs[next].Work) * float64(jobs[next].Nodes)
			next++
		}
		before := n.result.Work
		if n.second(jobs[from:next]); n.result.Work > before {
			last = n.now
		}
	}
	r := n.result
	r.Jobs = len(jobs)
	r.QoS, r.Promised = r.QoS/all, r.Promised/all
	if r.Work > 0 {
		r.Turnaround /= float64(len(jobs) - r.Abandoned)
		r.Utilisation = r.Work / float64(last-jobs[0].Submit) / float64(n.Nodes)
	}
	return r
}

// madeUp returns a small cluster, its oracle's accuracy, and jobs.
func madeUp(random *rand.Rand) (Config, float64, []Job) {
	nodes := 1 + random.IntN(6)
	period := 50 + random.Int64N(400)
	var failures []Failure
	for range random.IntN(12) {
		failures = append(failures, Failure{At: random.Int64N(period), Node: random.IntN(nodes), Detectability: float64(random.IntN(11)) / 10})
	}
	log := NewLog(failures, period)
	known := float64(random.IntN(11)) / 10
	c := Config{
		Nodes: nodes, Downtime: 1 + random.Int64N(12), Interval: 1 + random.Int64N(20), Overhead: 1 + random.Int64N(6),
		Failures: log, Predictor: log.Oracle(known), Risk: float64(random.IntN(11)) / 10, Horizon: random.Int64N(period),
		Checkpoint: RiskBased, Patience: 8,
	}
	if random.IntN(3) == 0 {
		c.Checkpoint = Always
	}
	var jobs []Job
	at := random.Int64N(100)
	for range 1 + random.IntN(15) {
		jobs = append(jobs, Job{Submit: at, Work: 1 + random.Int64N(40), Nodes: 1 + random.IntN(nodes)})
		at += random.Int64N(3) * random.Int64N(15)
	}
	return c, known, jobs
}

// TestNaive: the simulation second by second has the same result.
func TestNaive(t *testing.T) {
	var seen Result
	for seed := range uint64(700) {
		c, known, jobs := madeUp(rand.New(rand.NewPCG(seed, 1)))
		got := c.Run(jobs)
		want := (&naive{Config: c, known: known}).run(jobs)
		if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Fatalf("seed %d: %+v, known %v, %+v (-naive +fast):\n%s", seed, c, known, jobs, diff)
		}
		seen.Missed += got.Missed
		seen.Interrupted += got.Interrupted
		seen.Performed += got.Performed
		seen.Risky += got.Risky
		seen.Abandoned += got.Abandoned
	}
	t.Logf("%+v", seen)
	if min(seen.Missed, seen.Interrupted, seen.Performed, seen.Risky, seen.Abandoned) < 50 {
		t.Errorf("hardly anything happened: %+v", seen)
	}
}
