package recalibration

// sample is the size of a sample of outcomes. The weight of an outcome decays with each newer
// one.
type sample struct {
	total, squares float64 // sums of the weights, and of their squares
}

// learn takes in an outcome.
func (s *sample) learn(decay float64) {
	s.total = s.total*decay + 1
	s.squares = s.squares*decay*decay + 1
}

// effective returns the effective sample size (Kish): the number of equally weighted
// outcomes with the same variance.
func (s *sample) effective() float64 { return s.total * s.total / s.squares }

// with returns the effective size of the sample that a user's curve rests on, given that of
// the curve of all. Her curve is the mean of her outcomes' with the weight of their total, and
// of the curve of all with the weight sharedOutcomes. It may rest on less than the curve of all:
// a user with 100 outcomes has a curve of her own that rests on some 360.
func (s *sample) with(all float64) float64 {
	return (s.total + sharedOutcomes) * (s.total + sharedOutcomes) / (s.squares + sharedOutcomes*sharedOutcomes/all)
}
