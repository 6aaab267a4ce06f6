package advise

import (
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

// The settings of the library SCR that an advice can fill: it checkpoints if one of them says so.
const (
	scrSeconds = "seconds" // SCR_CHECKPOINT_SECONDS: the least time since the last checkpoint
	// SCR_CHECKPOINT_INTERVAL: the calls of SCR_Need_checkpoint until it says yes
	scrInterval = "interval"
	// SCR_CHECKPOINT_OVERHEAD: the percentage of the time that a checkpoint may take
	scrOverhead = "overhead"
)

var scrSettings = []string{scrSeconds, scrInterval, scrOverhead}

// scr are SCR's variables: of those that are 0 SCR takes no notice.
type scr struct {
	Seconds  int64   `json:"SCR_CHECKPOINT_SECONDS"`
	Interval int64   `json:"SCR_CHECKPOINT_INTERVAL"`
	Overhead float64 `json:"SCR_CHECKPOINT_OVERHEAD"`
}

// newSCR fills the setting so that checkpoints are as far apart as Daly's interval, by the mean
// rate of failures until the job is stopped, or within a day if that is not known.
func newSCR(r *checkpoint.Request, setting string) (s scr) {
	span := r.Ends
	if span == 0 {
		span = 86400
	}
	gap := checkpoint.Daly(r.Cost, span/checkpoint.Failures(r.Hazard, span))
	switch gap = min(gap, checkpoint.Longest); setting {
	case scrSeconds:
		s.Seconds = max(1, int64(math.Round(gap)))
	case scrInterval:
		s.Interval = max(1, int64(math.Round(gap/r.Interval)))
	case scrOverhead:
		s.Overhead = 100 * max(r.Cost, 1) / (max(gap, 1) + max(r.Cost, 1))
	}
	return s
}

// String returns the variables as a shell reads them.
func (s scr) String() string {
	return fmt.Sprintf("export SCR_CHECKPOINT_SECONDS=%d SCR_CHECKPOINT_INTERVAL=%d SCR_CHECKPOINT_OVERHEAD=%.4g\n", s.Seconds, s.Interval, s.Overhead)
}
