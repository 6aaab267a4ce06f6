package expert

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/extrapolation"
	"github.com/varq-project/varq/predictor/forecast/influence"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// anchor is three anchors of package extrapolation, in seconds.
type anchor struct {
	longest float64 // of all waits that were simulated
	sure    float64 // the shortest by any order, if jobs run as long as expected
	likely  float64 // if jobs run for the median of their predicted run times
	ordered bool    // Slurm's priorities are known, and so the order
	endless bool    // the waits do not end
}

func anchorOf(p *twin.Point) anchor {
	return anchor{float64(p.Longest()), float64(p.Shortest()), float64(p.Expected), p.Ordered, p.TooLarge}
}

// less returns the anchor with waits that are shorter by so much as by returns for each.
func (a anchor) less(by func(wait float64) float64) anchor {
	return anchor{a.longest - by(a.longest), a.sure - by(a.sure), a.likely - by(a.likely), a.ordered, a.endless}
}

// least returns the shorter of each of the waits.
func (a anchor) least(b anchor) anchor {
	return anchor{min(a.longest, b.longest), min(a.sure, b.sure), min(a.likely, b.likely), a.ordered, a.endless && b.endless}
}

// beyond corrects forecasts where the queue has become longer than any that was learnt from, and
// where the order is known, so that it surely has: in a past in which many long limits were ahead
// of every job, of which little came, more work than ever may be ahead though no wait is the
// longest. Where the order is not known, jobs go ahead of others for reasons that no simulation
// knows. A correction is believed as far as it has proved true.
type beyond struct {
	longest, sure, likely *extrapolation.Extrapolation
	trust                 *extrapolation.Trust
	influence             *influence.Influence
}

func newBeyond() *beyond {
	return &beyond{extrapolation.New(), extrapolation.New(), extrapolation.New(), extrapolation.NewTrust(), influence.New()}
}

func (b *beyond) learn(a anchor, wait float64, user string) {
	weight := b.influence.Weigh(user)
	b.longest.Learn(a.longest, wait, weight)
	b.sure.Learn(a.sure, wait, weight)
	b.likely.Learn(a.likely, wait, weight)
}

// licensed reports whether a job waits for licences, too, of which simulations know nothing.
func licensed(r *workload.Request) bool { return r.Licences != "" }

// share returns how far an anchor lies beyond what was learnt, from 0 to 1.
func (b *beyond) share(a anchor) float64 {
	share := max(b.longest.Share(a.longest), b.likely.Share(a.likely))
	if a.ordered {
		share = max(share, b.sure.Share(a.sure))
	}
	return share
}

// forecasts are those of a job, by rival.
type forecasts = [extrapolation.Rivals]delay.Distribution

// rivals returns d and what it becomes by the anchors, and the shares of these.
func (b *beyond) rivals(d *delay.Distribution, a anchor) (of *forecasts, shares [extrapolation.Rivals]float64) {
	of = new(forecasts)
	for k := range of {
		of[k] = *d
	}
	moved, likely := &of[extrapolation.Moved], &of[extrapolation.Likely]
	shares[extrapolation.Likely] = b.likely.Apply(likely, a.likely)
	shares[extrapolation.Moved] = b.longest.Apply(moved, a.longest)
	if a.ordered {
		shares[extrapolation.Moved] = max(shares[extrapolation.Moved], b.sure.Apply(moved, a.sure))
	}
	return of, shares
}

// apply turns d, a forecast for a request, into the mixture of the rivals, and returns how far that
// follows the anchors. Where waits do not end, there is nothing to choose: the job waits for nodes,
// and d becomes a wait without end.
func (b *beyond) apply(d *delay.Distribution, a anchor, r *workload.Request) (share float64) {
	switch {
	case a.endless:
		*d = delay.Distribution{}
		return 1
	case b.share(a) == 0 || licensed(r):
		return 0
	}
	of, shares := b.rivals(d, a)
	*d = delay.Distribution{}
	for k, weight := range b.trust.Of(forecast.Group(r), of) {
		d.Mix(&of[k], weight)
		share += weight * shares[k]
	}
	return share
}

// expect notes the forecasts for a job that begins to wait, to score them.
func (b *beyond) expect(j *workload.Job, plain *delay.Distribution, a anchor) {
	of, _ := b.rivals(plain, a)
	b.trust.Expect(j.ID, j.User, forecast.Group(&j.Request), j.Since(), of)
}
