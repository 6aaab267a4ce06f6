package health

import (
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

// State is what a node is fit for.
type State string

// The states of health.
const (
	Up State = "up"
	// for less than SlurmdTimeout: it may come back with its jobs
	NotResponding State = "not responding"
	Draining      State = "draining" // it runs its last jobs
	Drained       State = "drained"
	Failing       State = "failing" // an administrator expects it to fail
	Down          State = "down"
	Rebooting     State = "rebooting"   // by scontrol reboot
	Maintenance   State = "maintenance" // by a reservation
	PoweredDown   State = "powered down"
	Absent        State = "absent"  // State=FUTURE in slurm.conf
	Unknown       State = "unknown" // slurmctld has just started
)

// Out reports whether no work is on a node in that state, so that none is lost if it fails.
func (s State) Out() bool {
	switch s {
	case Drained, Down, Rebooting, Maintenance, PoweredDown, Absent:
		return true
	}
	return false
}

// stateOf returns the state of health in Slurm's state of a node, as slurm.Node has it.
func stateOf(state string) State {
	words := strings.Split(state, "+")
	is := func(any ...string) bool {
		return slices.ContainsFunc(any, func(word string) bool { return slices.Contains(words, word) })
	}
	switch {
	case is("FUTURE", "DYNAMIC_FUTURE"):
		return Absent
	case is("REBOOT_ISSUED"):
		return Rebooting
	case is("MAINTENANCE"):
		return Maintenance
	case is("DOWN", "ERROR"):
		return Down
	case is("POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "POWERING_UP"):
		return PoweredDown
	case is("FAIL"):
		return Failing
	case is("DRAIN", "INVALID_REG", "REBOOT_REQUESTED", "POWER_DRAIN"):
		if is("ALLOCATED", "MIXED", "COMPLETING") {
			return Draining
		}
		return Drained
	case is("UNKNOWN", "INVALID"):
		return Unknown
	case is("NOT_RESPONDING"):
		return NotResponding
	}
	return Up
}

// The kinds of events that are not failures.
const (
	unresponsive = "not responding"
	drained      = "drained" // by an administrator, or for no reason known here
	failing      = "failing"
	down         = "down" // for planned work, or while it was out of service anyway
	unhealthy    = "health"
	killFailed   = "kill task failed"
	reboot       = "reboot"
	maintenance  = "maintenance" // down or drained in a maintenance reservation
)

// Kinds returns the kinds of events that are not failures, as far as Slurm tells of them.
func Kinds() []string {
	return []string{unresponsive, drained, failing, down, unhealthy, killFailed, reboot, maintenance}
}

// kindOf returns the kind of event that a node's being in this state for this reason is, if it is
// one. out tells that no work was on the node before.
func kindOf(slurmState, reason string, out bool) (kind string, is bool) {
	state, why := stateOf(slurmState), causeOf(reason)
	switch {
	case state == Up, state == Unknown, state == Absent, state == PoweredDown, why == artefact && state != NotResponding:
		return "", false
	case state == NotResponding:
		return unresponsive, true
	case state == Rebooting:
		return reboot, true
	case state == Maintenance:
		return maintenance, strings.Contains(slurmState, "DOWN") || strings.Contains(slurmState, "DRAIN")
	case why == idled:
		return "", false
	case why == broken, why == lost && !out:
		return fault.Failure, true
	case why == rebooted, strings.Contains(slurmState, "REBOOT_REQUESTED"):
		return reboot, true
	case state == Down && (out || why == planned):
		return down, true
	case state == Down:
		return fault.Failure, true
	case state == Failing:
		return failing, true
	case why == unkilled:
		return killFailed, true
	case why == unwell:
		return unhealthy, true
	}
	return drained, true
}
