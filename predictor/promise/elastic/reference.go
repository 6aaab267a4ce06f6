package elastic

import (
	"fmt"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// Reference is how long a job takes on one number of nodes, and how that changes on others.
type Reference struct {
	Size  // np_ref and dur_ref
	Curve speedup.Curve
}

// Check says what is wrong with a reference.
func (r Reference) Check() error {
	if r.Nodes < 1 || r.Nodes > maxNodes {
		return fmt.Errorf("the reference: %d is not a number of nodes from 1 to %d", r.Nodes, maxNodes)
	}
	if r.Seconds < 1 || r.Seconds > maxSeconds {
		return fmt.Errorf("the reference: %d s is not how long a job takes", r.Seconds)
	}
	return nil
}

// On returns the time on a number of nodes, in seconds, rounded up to whole minutes (dur_adapt,
// equation 5).
func (r Reference) On(nodes int32) int64 {
	return wholeMinutes(r.exactly(nodes))
}

func (r Reference) exactly(nodes int32) float64 {
	return float64(r.Seconds) * r.Curve.Of(float64(r.Nodes)) / r.Curve.Of(float64(nodes))
}

// Sizes returns a size for each number of nodes that ParseNodes has returned, but for those that
// are not faster, in minutes, than one with fewer nodes.
func (r Reference) Sizes(nodes []int32) ([]Size, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	var sizes []Size
	for _, n := range nodes {
		if s := (Size{n, r.On(n)}); len(sizes) == 0 || s.Seconds < sizes[len(sizes)-1].Seconds {
			sizes = append(sizes, s)
		}
	}
	return sizes, CheckSizes(sizes)
}

// Least returns the least number of nodes, up to most, on which the job is done within a number of
// seconds (np_min_new, section 3.2.1) if the processors have a power relative to that of the
// reference. It reports false if there is none.
func (r Reference) Least(seconds int64, power float64, most int32) (nodes int32, ok bool) {
	if seconds < 1 {
		return 0, false
	}
	need := r.Curve.Of(float64(r.Nodes)) * float64(r.Seconds) / power / float64(seconds)
	const slip = 1e-12 // a time that fits exactly does so in spite of rounding
	return speedup.Least(r.Curve, need*(1-slip), most)
}
