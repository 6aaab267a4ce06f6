package expert

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/extrapolation"
	"github.com/varq-project/varq/predictor/forecast/twin"
)

// anchor is two anchors of package extrapolation, in seconds.
type anchor struct {
	longest float64 // of all waits that were simulated
	sure    float64 // the shortest by any order, if jobs run as long as expected
	ordered bool    // Slurm's priorities are known, and so the order
}

func anchorOf(p *twin.Point) anchor {
	return anchor{float64(p.Longest()), float64(p.Shortest()), p.Ordered}
}

// known reports whether the waits end.
func (a anchor) known() bool { return a.longest < twin.Endless }

// less returns the anchor with waits that are shorter by so much as by returns for each.
func (a anchor) less(by func(wait float64) float64) anchor {
	return anchor{a.longest - by(a.longest), a.sure - by(a.sure), a.ordered}
}

// least returns the shorter of each of the waits.
func (a anchor) least(b anchor) anchor {
	return anchor{min(a.longest, b.longest), min(a.sure, b.sure), a.ordered}
}

// beyond corrects forecasts where the queue has become longer than any that was learnt from, and where the order is known, so that it surely
// has: in a past in which many long limits were ahead of every job, of which little came, more work than ever may be ahead though no wait is
// the longest. Where the order is not known, jobs go ahead of others for reasons that no simulation knows.
type beyond struct{ longest, sure *extrapolation.Extrapolation }

func newBeyond() *beyond { return &beyond{extrapolation.New(), extrapolation.New()} }

func (b *beyond) learn(a anchor, wait float64) {
	b.longest.Learn(a.longest, wait)
	b.sure.Learn(a.sure, wait)
}

// share returns how far an anchor lies beyond what was learnt, from 0 to 1.
func (b *beyond) share(a anchor) float64 {
	share := b.longest.Share(a.longest)
	if a.ordered {
		share = max(share, b.sure.Share(a.sure))
	}
	return share
}

// apply turns d into the corrected forecast, and returns the share of the anchor.
func (b *beyond) apply(d *delay.Distribution, a anchor) float64 {
	share := b.longest.Apply(d, a.longest)
	if a.ordered {
		share = max(share, b.sure.Apply(d, a.sure))
	}
	return share
}
