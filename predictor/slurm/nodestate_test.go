package slurm

import "testing"

// The numbers are those of events in the accounting of 22.05 and 24.11.
func TestNodeState(t *testing.T) {
	for raw, want := range map[uint32]string{
		0: "UNKNOWN", 1: "DOWN", 514: "IDLE+DRAIN", 513: "DOWN+DRAIN", 2049: "DOWN+NOT_RESPONDING",
		1049089: "DOWN+DRAIN+REBOOT_ISSUED", 1<<27 | 5: "MIXED+BLOCKED", 1 << 15: "UNKNOWN+MAINTENANCE", 15 | 1<<31: "UNKNOWN",
	} {
		if got := NodeState(raw); got != want {
			t.Errorf("%d: %s, want %s", raw, got, want)
		}
	}
}
