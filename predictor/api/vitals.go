package api

import (
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
	MaxOf      = 64 // bytes
	// MaxClockOff is how far apart, in seconds, the clocks of a node and of varqd may be.
	MaxClockOff = 300
)
