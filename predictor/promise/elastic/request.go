package elastic

import (
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Bounds and defaults of how many slots a site is asked for.
const (
	MaxSlots     = 10_000 // of one size
	DefaultSlots = 100
	DefaultGap   = 300 // seconds
)

// Request is an elastic reservation that is asked for. Times are Unix seconds.
type Request struct {
	// Earliest and Latest are the window: the job starts and ends in it (est, let).
	Earliest, Latest int64
	// Sizes are in the order of their nodes, as CheckSizes wants them.
	Sizes []Size
	// Prefer is how the user orders slots.
	Prefer Preferences
	// MinProb is the least probability of a slot that is tried, 0 for any (th).
	MinProb float64
	// Slots is how many slots of each size a site answers with at most, from 1 to MaxSlots
	// (tsn_max).
	Slots int
	// Gap is how many seconds lie between the starts of two of them at least (tss_gap).
	Gap int64
}

// Check says what is wrong with a request at the time now.
func (r *Request) Check(now int64) error {
	switch {
	case r.Earliest < 1 || r.Latest < 1:
		return errors.New("the window needs an earliest and a latest time")
	case r.Latest == r.Earliest:
		return errors.New("the window is empty: it ends when it begins")
	case r.Latest < r.Earliest:
		return errors.New("the window is reversed: it ends before it begins")
	case r.Latest-r.Earliest > maxSeconds || r.Latest-now > maxSeconds:
		return errors.New("the window is longer than a century, or as far away")
	case r.Latest <= now:
		return errors.New("the window has passed")
	case !(r.MinProb >= 0 && r.MinProb < 1):
		return fmt.Errorf("%v is not a least probability between 0 and 1", r.MinProb)
	case r.Slots < 1 || r.Slots > MaxSlots:
		return fmt.Errorf("%d is not a number of slots from 1 to %d", r.Slots, MaxSlots)
	case r.Gap < 0 || r.Gap > maxSeconds:
		return fmt.Errorf("%d s is not a gap between slots", r.Gap)
	}
	if err := CheckSizes(r.Sizes); err != nil {
		return err
	}
	if err := r.Prefer.Check(); err != nil {
		return err
	}
	if window := r.Latest - max(r.Earliest, now); len(r.Fitting(now, 1)) == 0 {
		fastest := r.Sizes[len(r.Sizes)-1]
		return fmt.Errorf("no size fits into the window of %s: the fastest is %v", slurmtime.FormatDuration(window), fastest)
	}
	return nil
}

// Fitting returns the sizes with their times at a site, as Scaled by a factor, but for those that
// do not fit into what is left of the window at the time now.
func (r *Request) Fitting(now int64, factor float64) []Size {
	sizes := Scaled(r.Sizes, factor)
	for i, s := range sizes {
		if s.Seconds <= r.Latest-max(r.Earliest, now) {
			return sizes[i:] // larger sizes are as fast
		}
	}
	return nil
}

// Starts returns when a job of a number of seconds may start in the window, if it is now: see
// StartTimes.
func (r *Request) Starts(now, seconds int64) []int64 {
	return StartTimes(max(r.Earliest, now), r.Latest, seconds, r.Slots, r.Gap)
}

// Accept says why a slot is not an answer to the request: it is wrong in itself, outside the
// window, or of no size asked for.
func (r *Request) Accept(s *Slot) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Start < r.Earliest || s.End > r.Latest {
		return errors.New("it is not in the window")
	}
	for _, size := range r.Sizes {
		if size.Nodes == s.Nodes {
			return nil
		}
	}
	return fmt.Errorf("nobody asked for %d nodes", s.Nodes)
}

// SubmissionTime is how far ahead the first slot of a window is that has begun, in seconds: a job
// whose deadline passes while sbatch submits it is refused, although its site could start it.
const SubmissionTime = 10

// Starts returns the times of a window that are looked at, as of now, for work of a number of
// seconds that ends by latest. What has come already is no time to begin at, and the first one
// leaves time to choose and to submit, if the window does. A single one is the latest, and of a
// window that is shorter than the gap its two ends are. See StartTimes.
func Starts(now, earliest, latest, seconds int64, most int, gap int64) []int64 {
	last := latest - seconds
	earliest = max(earliest, now+1, min(now+SubmissionTime, last))
	if most == 1 {
		earliest = max(earliest, last)
	}
	starts := StartTimes(earliest, latest, seconds, most, gap)
	if len(starts) == 1 && starts[0] < last {
		starts = append(starts, last)
	}
	return starts
}

// StartTimes returns at most most times from which seconds of work end by latest: the earliest and
// the last one, and others spread evenly between them, each at least gap seconds after the one
// before (start_times, Figure 4). If there is room for one only, it is the earliest.
func StartTimes(earliest, latest, seconds int64, most int, gap int64) []int64 {
	room := latest - seconds - earliest
	if room < 0 || most < 1 {
		return nil
	}
	steps := min(int64(most)-1, room/max(1, gap))
	times := []int64{earliest}
	for i := int64(1); i <= steps; i++ {
		// Of whole and rest, neither product is too large.
		times = append(times, earliest+room/steps*i+room%steps*i/steps)
	}
	return times
}
