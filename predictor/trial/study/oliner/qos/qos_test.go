package qos

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInvariants: no node has two jobs at once, or a job while it is down; the timeline has the
// nodes free that no job has and that are not down; and the time for which jobs have nodes is what
// they work, lose, and spend on checkpoints.
func TestInvariants(t *testing.T) {
	for seed := range uint64(300) {
		c, _, jobs := madeUp(rand.New(rand.NewPCG(seed, 2)))
		checkpoints := map[*job]int{} // complete ones of a run
		overhead, wasted := 0., 0.
		var runs []*job
		r := c.run(jobs, func(s *simulator, e event) {
			has := map[*job]Set{}
			for node, j := range s.running {
				if j == nil {
					continue
				}
				if s.down[node] > s.now {
					t.Fatalf("seed %d: node %d has a job and is down", seed, node)
				}
				if has[j] == nil {
					has[j] = newSet(s.Nodes)
				}
				has[j].add(node)
			}
			free := newTimeline(s.now, s.Nodes)
			take := func(what string, nodes Set, from, to int64) {
				if from == to {
					return
				}
				available := newSet(s.Nodes)
				free.earliest(from, to-from, 0, available)
				available.intersect(nodes)
				if !slices.Equal(available, nodes) {
					t.Fatalf("seed %d: %s has nodes that another has", seed, what)
				}
				free.take(nodes, from, to)
			}
			for node, until := range s.down {
				only := newSet(s.Nodes)
				only.add(node)
				take("a failure", only, s.now, max(s.now, until))
			}
			for j, nodes := range has {
				if !slices.Equal(nodes, j.nodes) || nodes.count() != j.Nodes || s.now > j.to {
					t.Fatalf("seed %d: %+v runs on %b at %d", seed, j, nodes, s.now)
				}
				take("a job that runs", nodes, s.now, j.to)
			}
			for _, j := range s.waiting {
				if has[j] != nil || j.from < s.now || j.nodes.count() != j.Nodes {
					t.Fatalf("seed %d: %+v waits at %d", seed, j, s.now)
				}
				take("a job that waits", j.nodes, j.from, j.to)
			}
			if !slices.Equal(free.at, s.timeline.at) || !slices.Equal(free.free, s.timeline.free) {
				t.Fatalf("seed %d: at %d the timeline is %+v, want %+v", seed, s.now, s.timeline, free)
			}
			if e.kind == checkpointed {
				checkpoints[e.job]++
				overhead += float64(s.Overhead) * float64(e.job.Nodes)
			}
			// What a run that was interrupted lost begins with the last checkpoint.
			for _, j := range runs {
				if has[j] == nil {
					if checkpoints[j] > 0 && (e.kind != end || e.job != j) {
						wasted += float64(s.Overhead) * float64(j.Nodes)
					}
					delete(checkpoints, j)
				}
			}
			runs = runs[:0]
			for j := range has {
				runs = append(runs, j)
			}
		})
		if r.Abandoned == 0 && r.Occupied != r.Work+r.Lost+overhead-wasted {
			t.Errorf("seed %d: %v node-seconds are not %v of work, %v lost and %v of checkpoints", seed, r.Occupied, r.Work, r.Lost, overhead-wasted)
		}
		if min(r.QoS, r.Utilisation, r.Lost, r.Promised-r.QoS) < 0 || max(r.Promised, r.Utilisation) > 1+1e-9 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}

// TestNoFailures: every promise has the probability 1 and is kept.
func TestNoFailures(t *testing.T) {
	for seed := range uint64(50) {
		c, _, jobs := madeUp(rand.New(rand.NewPCG(seed, 3)))
		c.Failures = NewLog(nil, 1000)
		c.Predictor, c.Risk = c.Failures.Oracle(1), 1
		r := c.Run(jobs)
		if math.Abs(r.QoS-1) > 1e-12 || r.Lost != 0 || r.Missed+r.Interrupted+r.Risky > 0 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}

// TestForesight: with a = 1 and U = 1, wherever each job finds such a start, nothing is lost
// (section 5.1: "the simulator was able to achieve QoS of 1 when a=1 and U=1").
func TestForesight(t *testing.T) {
	n := 0
	for seed := range uint64(300) {
		c, _, jobs := madeUp(rand.New(rand.NewPCG(seed, 4)))
		c.Predictor, c.Risk, c.Checkpoint = c.Failures.Oracle(1), 1, RiskBased
		for i, f := range c.Failures.failures { // a failure of detectability 0 is foretold as none
			c.Failures.failures[i].Detectability = max(f.Detectability, .1)
		}
		c.Predictor = c.Failures.Oracle(1)
		r := c.Run(jobs)
		if r.Risky > 0 {
			continue
		}
		n++
		if math.Abs(r.QoS-1) > 1e-12 || r.Lost != 0 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
	if n < 100 {
		t.Errorf("only %d runs without a risky job", n)
	}
}

// TestNegotiation: of two nodes one fails at 100, foretold with .6. The job waits for neither where
// one suffices; where it needs both, a user who accepts the risk starts at once, and another when
// the node is up again.
func TestNegotiation(t *testing.T) {
	log := NewLog([]Failure{{At: 100, Node: 0, Detectability: .6}}, 10_000)
	for _, test := range []struct {
		nodes       int
		accuracy, u float64
		want        Result
	}{
		{1, 1, 1, Result{QoS: 1, Promised: 1, Turnaround: 200}},
		{2, 1, 1, Result{QoS: 1, Promised: 1, Turnaround: 120 + 200}},
		{2, 1, .4, Result{QoS: 0, Promised: .4, Turnaround: 120 + 200, Interrupted: 1, Missed: 1, Lost: 200}},
		{2, .5, 1, Result{QoS: 0, Promised: 1, Turnaround: 120 + 200, Interrupted: 1, Missed: 1, Lost: 200}},
	} {
		r := Config{
			Nodes: 2, Downtime: 20, Interval: 3600, Overhead: 720, Failures: log, Predictor: log.Oracle(test.accuracy),
			Risk: test.u, Horizon: 10_000, Checkpoint: RiskBased, Patience: 10,
		}.Run([]Job{{Submit: 0, Work: 200, Nodes: test.nodes}})
		got := Result{QoS: r.QoS, Promised: r.Promised, Turnaround: r.Turnaround, Interrupted: r.Interrupted, Missed: r.Missed, Lost: r.Lost}
		if got != test.want {
			t.Errorf("%d nodes, a=%v, U=%v: %+v, want %+v", test.nodes, test.accuracy, test.u, got, test.want)
		}
	}
}

func TestRiskBased(t *testing.T) {
	base := Request{Now: 1000, Fails: .2, Intervals: 1, Interval: 3600, Overhead: 720, Remaining: 7200, Deadline: 1000 + 7200 + 720}
	if !RiskBased(base) {
		t.Error("p_f d I = C: the checkpoint is skipped")
	}
	less := base
	less.Fails = .19
	if RiskBased(less) {
		t.Error("p_f d I < C: the checkpoint is performed")
	}
	less.Intervals = 2
	if !RiskBased(less) {
		t.Error("after two intervals the checkpoint is skipped")
	}
	late := base
	late.Deadline--
	if RiskBased(late) {
		t.Error("the checkpoint is performed, and the deadline missed")
	}
	late.Deadline = late.Now + late.Remaining - 1
	if !RiskBased(late) {
		t.Error("the deadline is missed anyway, and yet the checkpoint is skipped")
	}
}

// TestOracle: the predictor of section 4.3.
func TestOracle(t *testing.T) {
	log := NewLog([]Failure{{50, 1, .3}, {10, 0, .5}, {70, 0, .2}, {30, 2, .9}}, 100)
	all := Set{0b111}
	for _, test := range []struct {
		accuracy float64
		nodes    Set
		from, to int64
		want     float64
	}{
		{1, all, 0, 10, 0},
		{1, all, 0, 11, .5},
		{.5, all, 11, 100, .3}, // that of node 2 is not detected
		{1, all, 11, 100, .9},
		{.1, all, 0, 1000, 0},
		{1, Set{0b10}, 51, 150, 0},
		{1, Set{0b10}, 51, 151, .3}, // the next time
		{1, Set{0b1}, 271, 311, .5},
	} {
		if got := log.Oracle(test.accuracy).Nodes(0, test.nodes, test.from, test.to); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if got := log.Oracle(.5).Next(0, 171); got != 211 {
		t.Errorf("a window from 171 on is better from %d on", got)
	}
	if got := log.Oracle(0).Next(0, 0); got != Never {
		t.Errorf("nothing is known, and yet %d", got)
	}
}

func BenchmarkRun(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	const period = 365 * 24 * 3600
	var failures []Failure
	for range period / 30_600 {
		failures = append(failures, Failure{At: random.Int64N(period), Node: random.IntN(128), Detectability: random.Float64()})
	}
	log := NewLog(failures, period)
	var jobs []Job
	at := int64(0)
	for range 10_000 {
		at += random.Int64N(2000)
		jobs = append(jobs, Job{Submit: at, Work: 1 + int64(math.Exp(3+8*random.Float64())), Nodes: 1 << random.IntN(7)})
	}
	c := Config{
		Nodes: 128, Downtime: 120, Interval: 3600, Overhead: 720, Failures: log, Predictor: log.Oracle(1),
		Risk: .9, Horizon: period, Checkpoint: RiskBased, Patience: 1000,
	}
	for b.Loop() {
		c.Run(jobs)
	}
}
