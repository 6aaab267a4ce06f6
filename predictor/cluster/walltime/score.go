package walltime

import "math"

// Score measures the error of predicted run times. The zero Score has no predictions.
type Score struct {
	n                    int
	run, missed, likened float64
}

// Add adds a prediction and the run time of its job, both in seconds.
func (s *Score) Add(predicted, run float64) {
	s.n++
	s.run += run
	s.missed += math.Abs(predicted - run)
	s.likened += max(1, min(predicted, run)) / max(1, predicted, run)
}

// Jobs returns the number of predictions.
func (s *Score) Jobs() int { return s.n }

// Error returns the mean absolute error in seconds; NaN without predictions.
func (s *Score) Error() float64 { return s.missed / float64(s.n) }

// RelativeError returns the mean absolute error as a share of the mean run time.
func (s *Score) RelativeError() float64 { return s.missed / s.run }

// Accuracy returns the mean of the smaller of prediction and run time divided by the larger.
// Times below a second count as a second (Tsafrir 2007).
func (s *Score) Accuracy() float64 { return s.likened / float64(s.n) }
