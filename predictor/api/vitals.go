package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Vitals are what the agent on a node measures of it.
type Vitals struct {
	Node    string   `json:"node"` // as Slurm names it
	At      int64    `json:"at"`   // when they were measured, by the node's clock
	Signals []Signal `json:"signals"`
}

// Signal is one measurement.
type Signal struct {
	Name string `json:"name"` // one of Signals
	// Of is the part of the node that it is of, such as a disk, or empty.
	Of    string  `json:"of,omitempty"`
	Value float64 `json:"value"` // not negative
}

// IsLabel reports whether a text may name a node or a part of it: it has at most MaxOf bytes, and
// all of it can be printed.
func IsLabel(text string) bool {
	return len(text) <= MaxOf && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// The names of signals. Most are counts, which begin anew when the node boots.
const (
	// processes that run or wait, of a processor, in the mean over five minutes
	SignalLoad = "load"
	// the percentage of five minutes in which processes waited for memory
	SignalMemoryPressure = "memory_pressure"
	SignalIOPressure     = "io_pressure" // the same for disks
	SignalTemperature    = "temperature" // of the hottest zone, in degrees Celsius

	SignalMemoryCorrected   = "memory_errors_corrected" // of a memory controller
	SignalMemoryUncorrected = "memory_errors_uncorrected"
	SignalDisk              = "disk_errors"
	SignalFilesystem        = "filesystem_errors"
	// 1 for a filesystem on a disk that can only be read, 0 for another
	SignalReadOnly  = "read_only"
	SignalNetwork   = "network_errors" // of an interface or a port
	SignalThrottles = "thermal_throttles"
	// 1 for a flag of the kernel's that is set, 0 for another
	SignalTaint          = "kernel_taint"
	SignalGPUXID         = "gpu_xid"              // the code of a GPU's last error, or 0
	SignalGPUXIDs        = "gpu_xids"             // how many such errors there were
	SignalGPUCorrected   = "gpu_errors_corrected" // of its memory
	SignalGPUUncorrected = "gpu_errors_uncorrected"
)

// Signals returns the names that signals may have.
func Signals() []string {
	return []string{
		SignalLoad, SignalMemoryPressure, SignalIOPressure, SignalTemperature, SignalMemoryCorrected, SignalMemoryUncorrected, SignalDisk,
		SignalFilesystem, SignalReadOnly, SignalNetwork, SignalThrottles, SignalTaint, SignalGPUXID, SignalGPUXIDs, SignalGPUCorrected, SignalGPUUncorrected,
	}
}

// Bounds of Vitals.
const (
	MaxSignals = 256
	MaxOf      = 64      // bytes
	maxValue   = 1 << 64 // of a signal
	// MaxClockOff is how far apart, in seconds, the clocks of a node and of varqd may be.
	MaxClockOff = 300
)

// Check returns what is wrong with the vitals by themselves: Mistakes, or nil.
func (v *Vitals) Check() error {
	var c checker
	c.wrong(v.Node == "" || !IsLabel(v.Node), "node", "%.40q is not the name of a node", v.Node)
	c.moment("at", v.At)
	c.between("signals", int64(len(v.Signals)), 1, MaxSignals)
	names := Signals()
	type part struct{ name, of string }
	seen := make(map[part]bool, len(v.Signals))
	for i, s := range v.Signals[:min(len(v.Signals), MaxSignals)] {
		field := Field(fmt.Sprintf("signals[%d].", i))
		c.wrong(!slices.Contains(names, s.Name), field+"name", "there is no signal %.40q", s.Name)
		c.wrong(!IsLabel(s.Of), field+"of", "%.40q is not part of a node", s.Of)
		c.wrong(!(s.Value >= 0 && s.Value <= maxValue), field+"value", "%v is not between 0 and %v", s.Value, float64(maxValue))
		c.wrong(seen[part{s.Name, s.Of}], field+"name", "%.40s is there twice", s.Name)
		seen[part{s.Name, s.Of}] = true
	}
	return c.err()
}
