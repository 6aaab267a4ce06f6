package recalibration

// sample is the size of a sample of outcomes, whosesoever they are. The weight of an outcome
// decays with each newer one.
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

// least returns the effective sample size that the curve of any user has at least. Let the
// sample of all have the size E. The curve of a user with n outcomes of her own is the mean of
// theirs with the weight n, and of the curve of all with the weight K = sharedOutcomes. So its
// size is (n+K)^2/(n+K^2/E), which is least at n = K-2K^2/E or, if that is negative, at n = 0.
func (s *sample) least() float64 {
	all := s.effective()
	if all < 2*sharedOutcomes {
		return all
	}
	return 4 * (sharedOutcomes - sharedOutcomes*sharedOutcomes/all)
}
