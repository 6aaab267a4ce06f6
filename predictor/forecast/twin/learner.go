package twin

import "math"

const (
	// often is how many submissions pass at least between two on which suppositions
	// are tried. There is one more for each dear jobs that wait, as each of them makes
	// a trial dearer.
	often = 8
	dear  = 16
	// fade is how much less errors count with each job.
	fade = 1 - 1./64
	// enough is how many jobs must tell before another supposition is believed in,
	// and better by how much its error must be smaller then.
	enough = 16
	better = .95
)

// supposition is what may be true of a machine.
type supposition struct {
	Policy
	size int // which of its sizes
}

// suppositions are what may be true of machines. What comes first is believed until
// something else is known.
var suppositions = func() (all [sizes * len(candidates)]supposition) {
	for i := range all {
		all[i] = supposition{candidates[i%len(candidates)], i / len(candidates)}
	}
	return all
}()

// guesses are the waits, in seconds, that a job would have by each supposition; nil:
// none was tried on it.
type guesses *[len(suppositions)]float64

// learner finds out what is true of a machine: what would have predicted best when
// jobs started. Errors are of the logarithm of the wait and a minute.
type learner struct {
	errors [len(suppositions)]float64 // sums that fade
	told   float64                    // jobs, fading
	best   int                        // index of the supposition believed in
	next   int                        // submissions until the next trial
}

// due reports whether suppositions are to be tried on the next job, while others wait.
func (l *learner) due(waiting int) bool {
	if l.next > 0 {
		l.next--
		return false
	}
	l.next = often - 1 + waiting/dear
	return true
}

// tell takes in how long a job waited on which suppositions were tried.
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
