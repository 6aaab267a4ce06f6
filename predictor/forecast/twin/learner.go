package twin

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

const (
	// A job is tried every trialGap submissions, and one submission later for every jobsPerGap jobs
	// that wait, because they make a trial more expensive. Where there are many, those that run
	// count, too.
	trialGap   = 8
	jobsPerGap = 16
	// fade is the weight that an error keeps when another trial is learnt.
	fade = 1 - 1./64
	// Another hypothesis becomes the best after at least minTrials trials, which fade,
	// if its error is below improvement times the error of the best one.
	minTrials   = 16
	improvement = .95
)

// hypothesis is a policy that a pool may follow, and an estimate of its size.
type hypothesis struct {
	rollout.Policy
	size int // index of pool.procs
}

// policies are the policies that a pool may follow.
var policies = [...]rollout.Policy{
	{Order: rollout.FCFS, Backfill: sched.EASY},
	{Order: rollout.FCFS, Backfill: sched.NoBackfill},
	{Order: rollout.LWF, Backfill: sched.EASY},
	{Order: rollout.LWF, Backfill: sched.NoBackfill},
	{Order: rollout.Priority, Backfill: sched.EASY},
	{Order: rollout.Priority, Backfill: sched.NoBackfill},
}

// byPriority is the index of the first policy, and so of the first hypothesis, of Slurm's
// priorities.
var byPriority = slices.IndexFunc(policies[:], func(p rollout.Policy) bool { return p.Order == rollout.Priority })

// hypotheses are each policy with each estimate of the size. The first one is believed
// until another has proved better.
var hypotheses = func() (all [sizeCount * len(policies)]hypothesis) {
	for i := range all {
		all[i] = hypothesis{policies[i%len(policies)], i / len(policies)}
	}
	return all
}()

// trial is the wait, in seconds, that each hypothesis predicts for one job. It is nil for
// a job that was not tried.
type trial *[len(hypotheses)]float64

// learner finds the hypothesis that predicts a pool's waits best. An error is the
// absolute difference of logWait.
type learner struct {
	errors [len(hypotheses)]float64 // sums, fading
	trials float64                  // their number, fading
	best   int                      // index of the hypothesis that is believed
	// ordered is the same among the hypotheses of Slurm's priorities, counted from byPriority.
	ordered int
	next    int // submissions until the next trial
}

// believed returns the index of the hypothesis that is believed. Where Slurm's priorities are
// known, the pool follows them, whatever came nearest in a past in which they were not: then only
// the backfilling and the size are learnt.
func (l *learner) believed(ordered bool) int {
	if ordered {
		return byPriority + l.ordered
	}
	return l.best
}

// tick counts a submission, and reports whether its job is to be tried, given how many jobs wait
// and run.
func (l *learner) tick(waiting, running int) bool {
	if l.next > 0 {
		l.next--
		return false
	}
	jobs := waiting
	if waiting+running >= many {
		jobs += running
	}
	l.next = trialGap - 1 + jobs/jobsPerGap
	return true
}

// learn compares a trial with the wait of its job, in seconds.
func (l *learner) learn(t trial, wait float64) {
	l.trials = l.trials*fade + 1
	for i, predicted := range t {
		l.errors[i] = l.errors[i]*fade + math.Abs(logWait(predicted)-logWait(wait))
	}
	if l.trials < minTrials {
		return
	}
	for i := range l.errors {
		if l.errors[i] < improvement*l.errors[l.best] {
			l.best = i
		}
		if hypotheses[i].Order == rollout.Priority && l.errors[i] < improvement*l.errors[byPriority+l.ordered] {
			l.ordered = i - byPriority
		}
	}
}

// logWait returns log(60 s + wait), so that a second or two make hardly any difference.
func logWait(seconds float64) float64 { return math.Log(60 + max(0, seconds)) }
