package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

const (
	// trialGap is the least number of submissions between two trials. There is one
	// more for every crowd jobs that wait, as they make a trial more expensive.
	trialGap = 8
	crowd    = 16
	// fade is what an error still counts after one more trial.
	fade = 1 - 1./64
	// enough is how many trials, fading, it takes to prefer another hypothesis, and
	// better is how small its error must be as a share of the best one's.
	enough = 16
	better = .95
)

// hypothesis is what may be true of a machine: its policy, and which of its sizes.
type hypothesis struct {
	rollout.Policy
	size int
}

// policies are the policies that a machine may follow.
var policies = [...]rollout.Policy{
	{Order: rollout.FCFS, Backfill: sched.EASY},
	{Order: rollout.FCFS, Backfill: sched.NoBackfill},
	{Order: rollout.LWF, Backfill: sched.EASY},
	{Order: rollout.LWF, Backfill: sched.NoBackfill},
	{Order: rollout.Priority, Backfill: sched.EASY},
	{Order: rollout.Priority, Backfill: sched.NoBackfill},
}

// hypotheses are all there are. The first holds until another has proved better.
var hypotheses = func() (all [sizes * len(policies)]hypothesis) {
	for i := range all {
		all[i] = hypothesis{policies[i%len(policies)], i / len(policies)}
	}
	return all
}()

// trial is what each hypothesis predicts of the same job: its wait in seconds. It is
// nil for a job that was not tried.
type trial *[len(hypotheses)]float64

// learner finds the hypothesis that predicts a machine's waits best. Errors are absolute
// and of logWait.
type learner struct {
	errors [len(hypotheses)]float64 // sums, fading
	trials float64                  // their number, fading
	best   int                      // index of the hypothesis that holds
	next   int                      // submissions until the next trial
}

// due reports whether the next job that is submitted is to be tried, while others wait.
func (l *learner) due(waiting int) bool {
	if l.next > 0 {
		l.next--
		return false
	}
	l.next = trialGap - 1 + waiting/crowd
	return true
}

// learn takes in the wait that a trial was about, in seconds.
func (l *learner) learn(t trial, wait float64) {
	l.trials = l.trials*fade + 1
	for i, predicted := range t {
		l.errors[i] = l.errors[i]*fade + math.Abs(logWait(predicted)-logWait(wait))
	}
	if l.trials < enough {
		return
	}
	for i := range l.errors {
		if l.errors[i] < better*l.errors[l.best] {
			l.best = i
		}
	}
}

// logWait is the logarithm of a minute and a wait in seconds: it tells long waits from
// short ones, but not one second from two.
func logWait(seconds float64) float64 { return math.Log(60 + max(0, seconds)) }
