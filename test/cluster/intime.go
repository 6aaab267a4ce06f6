package cluster

import (
	"testing"
	"time"
)

// inTimeRounds is how many rounds InTime runs. Each has three times the lead of the one before, so
// that the last has nine times the first one's.
const inTimeRounds = 3

// InTime runs a round of a test whose deadline lies a lead ahead. The first round has the lead as
// Paced stretches it. A round returns false if a busy machine let the deadline pass before the
// round had done or seen what must come before it; what the round began then, it takes back. Such a
// round proves nothing, so InTime runs another one with a longer lead. It fails the test if no
// round is in time.
func (c *Cluster) InTime(t testing.TB, lead time.Duration, round func(lead time.Duration) bool) {
	t.Helper()
	lead = c.Paced(lead)
	for range inTimeRounds {
		if round(lead) {
			return
		}
		t.Logf("a lead of %v was too short", lead)
		lead *= 3
	}
	t.Fatalf("%d rounds were not in time", inTimeRounds)
}
