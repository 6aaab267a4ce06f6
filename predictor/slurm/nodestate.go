package slurm

import "strings"

// nodeBaseStates are Slurm's base states of a node, which are its lowest four bits.
var nodeBaseStates = [16]string{"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE"}

// nodeFlags are the flags beside the base state, from bit 4 on. Slurm 22.05 to 26.05 have them
// alike.
var nodeFlags = [...]string{
	"", "RESERVED", "UNDRAIN", "CLOUD", "RESUME", "DRAIN", "COMPLETING", "NOT_RESPONDING", "POWERED_DOWN", "FAIL",
	"POWERING_UP", "MAINTENANCE", "REBOOT_REQUESTED", "REBOOT_CANCELED", "POWERING_DOWN", "DYNAMIC_FUTURE",
	"REBOOT_ISSUED", "PLANNED", "INVALID_REG", "POWER_DOWN", "POWER_UP", "POWER_DRAIN", "DYNAMIC_NORM", "BLOCKED",
}

// NodeState returns the state of a node, as Node.State has it, from Slurm's number for it. Bits
// that are not known are left out.
func NodeState(raw uint32) string {
	words := []string{nodeBaseStates[raw&0xf]}
	if words[0] == "" {
		words[0] = "UNKNOWN"
	}
	for i, word := range nodeFlags {
		if word != "" && raw&(1<<(4+i)) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, "+")
}
