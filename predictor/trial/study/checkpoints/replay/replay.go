// Package replay runs the jobs of one log under the failures of another. For each Rule of package
// checkpoint it counts the costs of the checkpoints and of the work lost between them.
package replay

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
	"github.com/varq-project/varq/predictor/workload"
)

// Job is a job that did work on nodes.
type Job struct {
	Start int64 // Unix seconds
	Nodes int   // at least 1
	Work  int64 // seconds without checkpoints and failures, at least 1
	Limit int64 // seconds that the user said it takes at most; 0 if that is unknown
}

// Log are the nodes of a system, and their failures from Start until End.
type Log struct {
	Start, End int64 // Unix seconds
	Nodes      int
	Failures   []Failure // in the order of time
}

// Failure is one of a node, a number from 0 on. From At on it runs no jobs, and others again from
// Until on, both in Unix seconds.
type Failure struct {
	Node      int
	At, Until int64
}

// NewLog makes a Log of a system's failures, which are in the order of time. It starts with the
// first and ends with the last. A node of which nobody knows when it came back is back at once.
func NewLog(nodes []string, failures []workload.Failure) Log {
	number := make(map[string]int, len(nodes))
	for i, node := range nodes {
		number[node] = i
	}
	log := Log{Nodes: len(nodes)}
	for _, f := range failures {
		if node, ok := number[f.Node]; ok {
			log.Failures = append(log.Failures, Failure{node, f.Down, max(f.Down, f.Up)})
		}
	}
	if n := len(log.Failures); n > 0 {
		log.Start, log.End = log.Failures[0].At, log.Failures[n-1].At
	}
	return log
}

// Predictor tells the risk of nodes by the failures before.
type Predictor interface {
	// Fail tells of a failure. Times do not decrease from call to call.
	Fail(at int64, node int)
	// Hazard returns the risk of the nodes from a time on, which is not before the last failure
	// told.
	Hazard(at int64, nodes []int) checkpoint.Hazard
}

// Contender is a Rule with the Predictor that it asks. Several may share one Predictor.
type Contender struct {
	Rule checkpoint.Rule
	// Predictor is the index of a Replay's Predictors.
	Predictor int
}

// Replay is an experiment. Every job asks whether to checkpoint after each Interval of work since
// it last asked or checkpointed, unless it is done then; a checkpoint takes Cost. A failure of one
// of its nodes takes the job back to its last checkpoint. It goes on at once, on another node
// instead of that one; Rules are told that a restart costs nothing.
type Replay struct {
	Log            Log
	Cost, Interval int64 // seconds
	Predictors     []Predictor
	Contenders     []Contender
	// Random assigns nodes. A job gets the same nodes with all Contenders until it fails.
	Random *rand.Rand
}

// Cost is what some jobs cost.
type Cost struct {
	Work     float64 // node-seconds of their own
	Overhead float64 // node-seconds of checkpoints that were completed
	Lost     float64 // node-seconds of work done again, and of checkpoints that were not completed
}

// Waste returns the node-seconds besides the jobs' own work.
func (c Cost) Waste() float64 { return c.Overhead + c.Lost }

// Plus adds another Cost.
func (c *Cost) Plus(other Cost) {
	c.Work += other.Work
	c.Overhead += other.Overhead
	c.Lost += other.Lost
}

// Run replays the jobs, which are in the order of their starts, and returns for each Contender the
// costs of the jobs in the order of jobs.
func (r *Replay) Run(jobs []Job) [][]Cost {
	costs := make([][]Cost, len(r.Contenders))
	for i := range costs {
		costs[i] = make([]Cost, len(jobs))
	}
	s := &state{Replay: r, free: make([]int64, r.Log.Nodes)}
	next := 0
	until := func(at int64) {
		for ; next < len(jobs) && jobs[next].Start < at; next++ {
			s.start(&jobs[next], next, costs)
		}
		s.runs = slices.DeleteFunc(s.runs, func(run *run) bool { return s.advance(run, at) })
	}
	for _, f := range r.Log.Failures {
		until(f.At)
		s.fail(f)
	}
	until(math.MaxInt64)
	return costs
}

// state is the state of a Replay.
type state struct {
	*Replay
	free []int64 // when each node is up, and free if no job took longer than its work
	runs []*run
	left left
	// ended are the jobs that left does not know yet: it may know only of those that ended before
	// the last failure, for others that are asked about may be at an earlier time.
	ended []*Job
}

// run is a job's run with one Contender.
type run struct {
	*Job
	contender     int
	number        int
	nodes         []int
	began         int64 // the present stretch of work, or the checkpoint
	until         int64 // its end
	checkpointing bool
	saved, since  int64 // work
	cost          *Cost
}

// start starts a job with each contender.
func (s *state) start(j *Job, number int, costs [][]Cost) {
	nodes := s.assign(j)
	for c := range s.Contenders {
		r := &run{Job: j, contender: c, number: number, nodes: slices.Clone(nodes), began: j.Start, cost: &costs[c][number]}
		r.cost.Work = float64(j.Work) * float64(len(nodes))
		r.work(s.Interval)
		s.runs = append(s.runs, r)
	}
}

// work begins the next stretch of work.
func (r *run) work(interval int64) {
	r.checkpointing = false
	r.until = r.began + min(interval, r.Work-r.saved-r.since)
}

// advance lets a run go on until a time before which its nodes do not fail, and reports whether it
// is done.
func (s *state) advance(r *run, at int64) bool {
	for r.until <= at {
		request := !r.checkpointing
		if request {
			r.since += r.until - r.began
		} else {
			r.cost.Overhead += float64(s.Cost) * float64(len(r.nodes))
			r.saved, r.since = r.saved+r.since, 0
		}
		r.began = r.until
		switch {
		case r.saved+r.since == r.Work:
			if r.contender == 0 {
				s.ended = append(s.ended, r.Job)
			}
			return true
		case request && s.advises(r):
			r.checkpointing, r.until = true, r.began+s.Cost
		default:
			r.work(s.Interval)
		}
	}
	return false
}

// advises asks the contender's Rule.
func (s *state) advises(r *run) bool {
	c := s.Contenders[r.contender]
	return c.Rule(&checkpoint.Request{
		Cost: float64(s.Cost), Interval: float64(s.Interval), Since: float64(r.since),
		Left:   s.left.of(r.Job, r.saved+r.since),
		Hazard: s.Predictors[c.Predictor].Hazard(r.began, r.nodes),
	})
}

// fail takes the runs on a node back to their last checkpoints.
func (s *state) fail(f Failure) {
	for _, p := range s.Predictors {
		p.Fail(f.At, f.Node)
	}
	for _, j := range s.ended {
		s.left.learn(j)
	}
	s.ended = s.ended[:0]
	s.free[f.Node] = max(s.free[f.Node], f.Until)
	for _, r := range s.runs {
		i := slices.Index(r.nodes, f.Node)
		if i < 0 {
			continue
		}
		r.cost.Lost += float64(r.since+f.At-r.began) * float64(len(r.nodes))
		r.since, r.began = 0, f.At
		// The same failure gives all contenders the same node, if they have the same others.
		r.nodes[i] = s.another(f.At, r.nodes, rand.New(rand.NewPCG(uint64(r.number), uint64(f.At))))
		r.work(s.Interval)
	}
}

// another returns a node that is up and none of these, or, if there is none, the first of those
// that are none of these.
func (s *state) another(at int64, nodes []int, random *rand.Rand) int {
	for range 50 {
		if node := random.IntN(s.Log.Nodes); s.free[node] <= at && !slices.Contains(nodes, node) {
			return node
		}
	}
	for node := range s.Log.Nodes {
		if !slices.Contains(nodes, node) {
			return node
		}
	}
	return nodes[0]
}

// assign returns nodes at random for a job, of those that are up and free, and then the others by
// when they will be.
func (s *state) assign(j *Job) []int {
	order := s.Random.Perm(s.Log.Nodes)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(max(s.free[a], j.Start), max(s.free[b], j.Start))
	})
	nodes := slices.Clone(order[:min(j.Nodes, len(order))])
	for _, node := range nodes {
		s.free[node] = max(s.free[node], j.Start+j.Work)
	}
	return nodes
}
