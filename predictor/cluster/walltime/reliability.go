package walltime

// reliability recalibrates the distributions that were made from similar past jobs. The zero
// reliability changes nothing.
//
// Let F be the distribution of a run time X, made before X was known. If F is right, the rank
// F(X) is uniform between 0 and 1. If X is an atom of F, its rank is any number between F's
// values below and at X, chosen at random (Dawid 1984). Here the rank is spread between them
// instead (Czado, Gneiting and Held 2009). If ranks have another distribution G, then G(F) is
// right: its quantile of q is F's quantile of the level at which G is q. G is learnt from the
// ranks of the last few hundred outcomes. Killing at the limit is learnt separately, from its
// probability by F, because the limit is the only atom that matters. So G and F here are those
// of jobs that end before the limit.
//
// The result is that run times fall below each quantile as often as its level says, over all
// jobs that reach an age, as far as the next outcomes are like the last ones. This does not hold
// for each user or size. A change is learnt only after jobs that it affects have ended, short
// ones first. Hundreds of jobs of one kind that are submitted together count as hundreds of
// outcomes, although they are hardly more than one.
type reliability struct {
	ranks   ranks
	killing killing
}

// test learns from the run time, in seconds, of a job whose distribution was d.
func (r *reliability) test(d *Distribution, run int64) {
	before := float64(d.before)
	if before == 0 {
		return
	}
	r.killing.add(oddsOf(1-before), run >= d.limit)
	if run < d.limit {
		r.ranks.add(min(1, d.Below(run)/before), min(1, d.Within(run)/before))
	}
}

// recalibrated returns d, recalibrated by r with a weight of 1-share and by other with a weight
// of share.
func (d *Distribution) recalibrated(r, other *reliability, share float64) Distribution {
	if d.before == 0 {
		return *d
	}
	killed := oddsOf(1 - float64(d.before))
	c := Distribution{age: d.age, limit: d.limit, before: float32(1 - (1-share)*r.killing.worth(killed) - share*other.killing.worth(killed))}
	from, to := r.ranks.worth(), other.ranks.worth()
	for i := range c.quantiles {
		x := (from[i] + (to[i]-from[i])*float32(share)) * levels
		b := min(int(x), levels-1)
		low, high := d.quantiles[b], d.quantiles[b+1]
		c.quantiles[i] = low + (high-low)*(x-float32(b))
	}
	return c
}
