package slurmrestd

import "testing"

// Only a user's own hold is hers to answer for.
func TestHeldByUser(t *testing.T) {
	for reason, want := range map[string]bool{
		"JobHeldUser": true, "JobHeldAdmin": false, "launch failed requeued held": false,
	} {
		j := queueJob{State: words{"PENDING"}, Priority: number{set: true}, Reason: reason}
		if entry, err := j.entry(); err != nil || entry.Held != want {
			t.Errorf("%s: held is %v, %v", reason, entry.Held, err)
		}
	}
}
