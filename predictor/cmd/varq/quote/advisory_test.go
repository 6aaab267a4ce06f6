package quote

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// What is only likely is not told in the words of promises.
func TestLikely(t *testing.T) {
	for said, want := range map[string]string{
		"a start by 17:00, in 01:00:00, can be promised with probability 0.45 at best, not 0.9":                                                "a start by 17:00, in 01:00:00, has a probability of 0.45 at best, not 0.9",
		"running jobs leave no room at the deadline: not even a probability of 0.01 can be promised for a start by 17:00" + trajectory.NoOffer: "running jobs leave no room at the deadline: there is not even a probability of 0.01 of a start by 17:00",
		"not even a probability of 0.01 can be promised for an end by the deadline":                                                            "there is not even a probability of 0.01 of an end by the deadline",
	} {
		if got := likely.Replace(said); got != want || strings.Contains(got, "promise") {
			t.Errorf("%q: %q", said, got)
		}
	}
}
