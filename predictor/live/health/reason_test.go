package health

import (
	"testing"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

// none stands for no event.
const none = "none"

func TestKindOf(t *testing.T) {
	const idle, busy, dead = "IDLE+DRAIN", "MIXED+DRAIN", "DOWN+NOT_RESPONDING"
	for _, c := range []struct {
		state, reason string
		out           bool
		want          string
	}{
		{"IDLE", "", false, none},
		{"MIXED+PLANNED", "", false, none},
		{"ALLOCATED", "disk looks bad", false, none},
		{"UNKNOWN+NOT_RESPONDING", "", false, none},
		{"IDLE+NOT_RESPONDING", "", false, unresponsive},
		{dead, "Not responding", false, fault.Failure},
		{"DOWN", "Node unexpectedly rebooted", false, fault.Failure},
		{"DOWN", "by hand", false, fault.Failure},
		{"DOWN", "kernel upgrade", false, down},
		{"ERROR", "", false, fault.Failure},
		// What was out of service loses nothing when it goes down.
		{"DOWN+DRAIN+NOT_RESPONDING", "upgrade : Not responding", true, down},
		{"DOWN+DRAIN+NOT_RESPONDING", "upgrade : Not responding", false, fault.Failure},
		{idle, "upgrade : Not responding", true, drained},
		{idle, "Not responding", false, fault.Failure},
		// Reboots.
		{"DOWN+REBOOT_ISSUED", "kernel update : reboot issued", false, reboot},
		{"IDLE+DRAIN+REBOOT_REQUESTED", "Reboot ASAP", false, reboot},
		{"MIXED+REBOOT_REQUESTED", "new kernel", false, reboot},
		{"MIXED+DRAIN+REBOOT_REQUESTED", "ECC errors", false, fault.Failure},
		{"DOWN", "reboot requested : reboot issued : reboot complete", true, reboot},
		{"DOWN", "Not responding : reboot issued : reboot complete", true, reboot},
		{"DOWN", "reboot requested : reboot issued : reboot timed out", true, fault.Failure},
		// Power.
		{"IDLE+CLOUD+POWERED_DOWN", "", false, none},
		{"DOWN+POWERED_DOWN", "Powered down after resume", false, none},
		{"DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached", true, fault.Failure},
		{"FUTURE", "Future", false, none},
		{"DOWN", "Future", false, none},
		{busy, "POWER_DOWN_ASAP", false, none},
		// Maintenance reservations.
		{"DOWN+NOT_RESPONDING+MAINTENANCE", "Not responding", false, maintenance},
		{"IDLE+MAINTENANCE", "", false, none},
		// Slurm's other drains.
		{busy, "Kill task failed", false, killFailed},
		{busy, "Prolog error", false, unhealthy},
		{idle, "batch job complete failure", false, unhealthy},
		{"IDLE+DRAIN+INVALID_REG", "gres/gpu count reported lower than configured (7 < 8)", false, fault.Failure},
		{"IDLE+DRAIN+INVALID_REG", "Low TmpDisk, Low RealMemory (reported:1 < 100.00% of configured:4000)", false, fault.Failure},
		{idle, "Low TmpDisk", false, unhealthy},
		// LBNL's Node Health Check.
		{busy, "NHC: check_hw_physmem:  Actual RAM size (3900000 kB) less than minimum allowed (4000000 kB).", false, fault.Failure},
		{busy, "NHC: check_hw_physmem_free:  Not enough RAM free (10 kB < 1000 kB).", false, unhealthy},
		{busy, "NHC: check_hw_ib:  No IB port mlx5_0:1 is ACTIVE (LinkUp 100 Gb/sec).", false, fault.Failure},
		{busy, "NHC: check_nvsmi_healthmon:  nvidia-smi -q -i 0:  The GPU has fallen off the bus or has otherwise become inaccessible", false, fault.Failure},
		{busy, "NHC: check_fs_used:  /tmp has 99% used, threshold is 95%", false, unhealthy},
		{busy, "NHC: Watchdog timer unable to terminate hung NHC process 123.", false, unhealthy},
		// People.
		{busy, "bad DIMM in slot 3", false, fault.Failure},
		{busy, "XID 79, ticket 4711", false, fault.Failure},
		{idle, "firmware of the hardware", false, drained},
		{idle, "DIMM upgrade", false, drained},
		{idle, "deadline of the workshop", false, drained},
		{idle, "", false, drained},
		{busy, "health: /scratch is not mounted", false, unhealthy},
		{"IDLE+FAIL", "", false, failing},
		{"MIXED+FAIL", "ECC errors", false, fault.Failure},
		// Entries of accounting that stand for nothing.
		{"UNKNOWN", "cold-start", false, none},
		{"DOWN", "cold-start", false, none},
		{"IDLE", "node-update", false, none},
	} {
		got, is := kindOf(c.state, c.reason, c.out)
		if !is {
			got = none
		}
		if got != c.want {
			t.Errorf("%s %q, out %v: %q, want %q", c.state, c.reason, c.out, got, c.want)
		}
	}
}

func FuzzKindOf(f *testing.F) {
	f.Add("DOWN+DRAIN", "upgrade : Not responding", true)
	f.Add("MIXED+DRAIN", "NHC: check_hw_ib:", false)
	f.Fuzz(func(t *testing.T, state, reason string, out bool) {
		kind, is := kindOf(state, reason, out)
		if !is && kind != "" && kind != maintenance {
			t.Errorf("%q is not an event", kind)
		}
	})
}
