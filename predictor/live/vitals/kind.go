package vitals

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
)

// The kinds of events.
const (
	corrected   = "corrected memory errors"
	uncorrected = "uncorrected memory errors"
	disk        = "disk errors"
	network     = "network errors"
	gpu         = "GPU errors"
	heat        = "overheating"
	kernel      = "kernel trouble"
	strain      = "unusual load"
)

// Kinds returns the kinds of the events that are noticed in vitals.
func Kinds() []string {
	return []string{corrected, uncorrected, disk, network, gpu, heat, kernel, strain}
}

// shape is how a signal tells of an event.
type shape int

const (
	count shape = iota // when it has grown
	code               // when it is another one, and not 0
	level              // when it is far above its trend
)

// meaning is what a signal stands for.
type meaning struct {
	kind  string
	shape shape
	// least is the least distance from the trend of a level that is taken for usual: on a calm node
	// every job is a jump.
	least float64
	unit  string
}

var meanings = map[string]meaning{
	api.SignalLoad:              {kind: strain, shape: level, least: .2, unit: " a processor"},
	api.SignalMemoryPressure:    {kind: strain, shape: level, least: 2, unit: " %"},
	api.SignalIOPressure:        {kind: strain, shape: level, least: 4, unit: " %"},
	api.SignalTemperature:       {kind: heat, shape: level, least: 4, unit: " °C"},
	api.SignalMemoryCorrected:   {kind: corrected},
	api.SignalMemoryUncorrected: {kind: uncorrected},
	api.SignalDisk:              {kind: disk},
	api.SignalFilesystem:        {kind: disk},
	api.SignalReadOnly:          {kind: disk},
	api.SignalNetwork:           {kind: network},
	api.SignalThrottles:         {kind: heat},
	api.SignalTaint:             {kind: kernel},
	api.SignalGPUXID:            {kind: gpu, shape: code},
	api.SignalGPUXIDs:           {kind: gpu},
	api.SignalGPUCorrected:      {kind: gpu},
	api.SignalGPUUncorrected:    {kind: gpu},
}

// far is by how many usual distances a level exceeds its trend when that is an event.
const far = 10

// observe takes in the next value of a signal that has been seen before, at a time in Unix seconds.
// It returns in words what is to be noticed, or "". A count that has fallen begins anew.
func (r *reading) observe(s api.Signal, now int64) string {
	m, last := meanings[s.Name], r.value
	r.value = s.Value
	switch {
	case m.shape == level:
		if off := r.trend.Observe(now, s.Value, m.least); off > far {
			return fmt.Sprintf("%s is %.4g%s, far above its trend", named(s), s.Value, m.unit)
		}
	case m.shape == code && s.Value != last && s.Value != 0:
		return fmt.Sprintf("%s is %.0f", named(s), s.Value)
	case m.shape == count && s.Value > last:
		return fmt.Sprintf("%s has grown from %.0f to %.0f", named(s), last, s.Value)
	}
	return ""
}

func named(s api.Signal) string {
	if s.Of == "" {
		return s.Name
	}
	return s.Name + " of " + s.Of
}
