package twin

import "math"

const (
	// often is how many submissions pass between two that policies are tried on.
	often = 16
	// fade is how much less the errors of policies count with each job.
	fade = 1 - 1./128
	// enough is how many jobs must tell before the policy believed in changes, and
	// better by how much another's error must be smaller then.
	enough = 16
	better = .95
)

// guesses are the waits, in seconds, that the candidate policies would have given a
// job; nil: none was tried on it.
type guesses *[len(candidates)]float64

// learner finds out by which policy jobs are started: the one that would have
// predicted best when jobs started. Errors are of the logarithm of the wait and a
// minute.
type learner struct {
	errors [len(candidates)]float64 // sums that fade
	told   float64                  // jobs, fading
	best   int                      // index of the policy believed in
	next   int                      // submissions until the next trial
}

// due reports whether the policies are to be tried on the next job.
func (l *learner) due() bool {
	if l.next > 0 {
		l.next--
		return false
	}
	l.next = often - 1
	return true
}

// tell takes in how long a job waited that the policies were tried on.
func (l *learner) tell(g guesses, wait float64) {
	l.told = l.told*fade + 1
	for i, guess := range g {
		l.errors[i] = l.errors[i]*fade + math.Abs(logWait(guess)-logWait(wait))
	}
	if l.told < enough {
		return
	}
	for i := range l.errors {
		if l.errors[i] < better*l.errors[l.best] {
			l.best = i
		}
	}
}

// logWait is the logarithm of a wait in seconds and a minute, which tells long
// waits from short ones but not one second from two.
func logWait(seconds float64) float64 { return math.Log(60 + max(0, seconds)) }
