package walltime

import "math"

// Score tells how good predictions of run times were. The zero Score is about
// none.
type Score struct {
	n                    int
	run, missed, likened float64
}

// Add takes in a prediction and how long the job ran, both in seconds.
func (s *Score) Add(predicted, run float64) {
	s.n++
	s.run += run
	s.missed += math.Abs(predicted - run)
	s.likened += max(1, min(predicted, run)) / max(1, predicted, run)
}

// Jobs returns the number of predictions.
func (s *Score) Jobs() int { return s.n }

// Error returns the mean absolute error in seconds; NaN of no predictions.
func (s *Score) Error() float64 { return s.missed / float64(s.n) }

// RelativeError returns the mean absolute error as a share of the mean run time.
func (s *Score) RelativeError() float64 { return s.missed / s.run }

// Accuracy returns the mean of the smaller of prediction and run time divided by
// the larger, of times below a second as if they were one (Tsafrir 2007).
func (s *Score) Accuracy() float64 { return s.likened / float64(s.n) }
