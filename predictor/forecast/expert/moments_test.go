package expert

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/features"
)

// TestMomentsGrowApart: few moments are remembered. Still, shortly before any time of the
// last day there is one: at most some minutes, or an eighth of its age, before it.
func TestMomentsGrowApart(t *testing.T) {
	m := moments{extractor: features.New()}
	random := rand.New(rand.NewPCG(1, 1))
	at := int64(1e9)
	for range 20_000 {
		at += random.Int64N(120)
		m.remember(at)
		if len(m.past) > 70 {
			t.Fatalf("%d moments", len(m.past))
		}
	}
	for lead := int64(MinLead); lead < maxLead*7/8; lead += 100 {
		found := int64(-1)
		for _, p := range m.past {
			if p.at <= at-lead {
				found = at - lead - p.at
			}
		}
		if found < 0 || found > max(spacing+120, (lead+found)/coarseness+spacing) {
			t.Errorf("%d s ago, the moment before is %d s older", lead, found)
		}
	}
	if oldest := m.past[0].at; at-oldest > maxLead+spacing+120 {
		t.Errorf("a moment is %d s old", at-oldest)
	}
}
