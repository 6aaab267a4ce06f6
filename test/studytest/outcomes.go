package studytest

import (
	"testing"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Outcomes runs the cases of a study for which use returns true.
func Outcomes(t *testing.T, s study.Study, o study.Options, use func(study.Case) bool) []study.Outcome {
	t.Helper()
	var all []study.Outcome
	for _, c := range s.Cases(o) {
		if use(c) {
			values, err := s.Run(o, c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, study.Outcome{Case: c, Values: values})
		}
	}
	return all
}

// Between fails the test if a number is out of bounds.
func Between(t *testing.T, what string, got study.Interval, low, high float64) {
	t.Helper()
	t.Logf("%s: %.3g", what, got.Mean)
	if got.N == 0 || !(got.Mean >= low && got.Mean <= high) {
		t.Errorf("%s: %.3g of %d seeds, want %g to %g", what, got.Mean, got.N, low, high)
	}
}
