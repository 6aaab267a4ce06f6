// Package success estimates how probable it is that a job ends with exit code 0, once it has
// started: whether the jobs begin that wait for that.
//
// Users differ most, and then what they run: a job that has run often is tested. So the estimate is
// the share of successes among the past jobs like it, and what "like it" means is refined in steps:
// all jobs, those of its user, those of its user in its series, and those of its user with its size
// and time limit. Each step's share is drawn towards the one before by as many jobs as there are in
// its strength (the mean of a beta distribution), and forgets: the newest jobs tell most.
package success

import (
	"math/bits"

	"github.com/varq-project/varq/predictor/workload"
)

// Learner learns from jobs that have ended. The zero Learner has learnt nothing.
//
// To learn or to ask takes a constant time. Its memory is bounded.
type Learner struct {
	all    share
	shares [steps]map[key]*share
	learnt int64 // how many jobs
}

// share is how many of the jobs that it counts have succeeded, with decreasing weights.
type share struct {
	good, n float64
	newest  int64 // which job it was that it counted last
}

// key is what the jobs of a share have in common.
type key struct {
	user, series string
	nodes        int // the number of its bits
	limit        int64
}

// The steps by which the jobs that count are like the one asked about.
const (
	byUser = iota
	bySeries
	byShape
	steps
)

// strengths and decays were chosen on the logs KTH and CTC SP2. There, and on four other logs, the
// logarithmic loss is .63 to .87 of that of the share of all jobs.
var (
	strengths = [steps]float64{byUser: 6, bySeries: 6, byShape: 8}
	decays    = [steps]float64{byUser: .93, bySeries: .9, byShape: .9}
)

const (
	decayOfAll = .999
	// before anything is learnt, jobs succeed as likely as this, as if so many were known
	prior, priorJobs = .85, 5
	// no estimate is nearer to 0 or 1
	least = .005
	// the greatest number of shares of a step; beyond, the half that counted a job longest ago is
	// forgotten
	mostShares = 100_000
)

// keys returns what a job has in common with others, by step.
func keys(j *workload.Job) [steps]key {
	return [steps]key{
		byUser:   {user: j.User},
		bySeries: {user: j.User, series: j.Series},
		byShape:  {user: j.User, nodes: bits.Len32(uint32(max(0, j.Nodes))), limit: j.Limit},
	}
}

// Learn takes in a job that has started and ended. It learns nothing of one that Slurm requeued, or
// that never started.
func (l *Learner) Learn(j *workload.Job) {
	if j.Start == 0 || !j.State.Finished() || j.State == workload.Requeued {
		return
	}
	l.learnt++
	good := 0.
	if j.State == workload.Completed {
		good = 1
	}
	l.all.count(good, decayOfAll, l.learnt)
	for step, k := range keys(j) {
		if step == bySeries && j.Series == "" {
			continue
		}
		if l.shares[step] == nil {
			l.shares[step] = map[key]*share{}
		}
		s := l.shares[step][k]
		if s == nil {
			s = &share{}
			l.shares[step][k] = s
		}
		s.count(good, decays[step], l.learnt)
		if len(l.shares[step]) > mostShares {
			l.forget(step)
		}
	}
}

func (s *share) count(good, decay float64, job int64) {
	s.good, s.n, s.newest = s.good*decay+good, s.n*decay+1, job
}

// forget forgets the half of the shares of a step that counted a job longest ago, about: those that
// did before half of the jobs that the remaining ones did.
func (l *Learner) forget(step int) {
	sum := int64(0)
	for _, s := range l.shares[step] {
		sum += s.newest
	}
	mean := sum / int64(len(l.shares[step]))
	for k, s := range l.shares[step] {
		if s.newest < mean {
			delete(l.shares[step], k)
		}
	}
}

// Prob returns the probability that a job ends with exit code 0, once it has started.
func (l *Learner) Prob(j *workload.Job) float64 {
	p := (l.all.good + prior*priorJobs) / (l.all.n + priorJobs)
	for step, k := range keys(j) {
		if s := l.shares[step][k]; s != nil {
			p = (s.good + strengths[step]*p) / (s.n + strengths[step])
		}
	}
	return min(max(p, least), 1-least)
}
