package forecast

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/features"
)

// TestMomentsGrowApart: few moments are remembered, and yet there is one for any time
// of the last day that lies before it by no more than a while or an eighth of its age.
func TestMomentsGrowApart(t *testing.T) {
	f := Ahead{extractor: features.New()}
	random := rand.New(rand.NewPCG(1, 1))
	at := int64(1e9)
	for range 20_000 {
		at += random.Int64N(120)
		f.remember(at)
		if len(f.past) > 70 {
			t.Fatalf("%d moments", len(f.past))
		}
	}
	for lead := int64(shortest); lead < farthest*7/8; lead += 100 {
		found := int64(-1)
		for _, m := range f.past {
			if m.at <= at-lead {
				found = at - lead - m.at
			}
		}
		if found < 0 || found > max(aWhile+120, (lead+found)/coarse+aWhile) {
			t.Errorf("%d s ago, the moment before is %d s older", lead, found)
		}
	}
	if oldest := f.past[0].at; at-oldest > farthest+aWhile+120 {
		t.Errorf("a moment is %d s old", at-oldest)
	}
}
