package walltime

// reliability tells what distributions were worth that were made of similar past jobs,
// and makes such of them that are worth what they say. Its zero value changes nothing.
//
// If F is what was said of a run time X before it was known, and F was right, then the
// rank F(X) is uniform between 0 and 1; where X is an atom of F, any number between F's
// values below and at X will do as rank, chosen at random (Dawid 1984; Czado, Gneiting
// and Held 2009, who spread it instead as is done here). If ranks have the distribution
// G instead, then G(F) is right: its quantile of q is F's quantile of the level at which
// G is q. G is learnt from the ranks of the last few hundred outcomes. Being killed at
// the limit is learnt apart, by how probable it was said to be, since it is the one atom
// that matters and G may be anything there: G is that of jobs that ended by themselves,
// and F is given that they do.
//
// What this gives is that run times fall short of quantiles as often as those say, over
// all jobs that get to an age, in so far as the last outcomes are like the next. It does
// not give the same for each user or size. It follows a change only once jobs have ended
// that saw it; short ones end first. And hundreds of jobs of one kind that are
// submitted together count as so many outcomes, while they are hardly more than one.
type reliability struct {
	ranks   ranks
	killing killing
}

// test takes in how long a job ran of which d was said.
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

// recalibrated returns what d is worth by r and, with a share, by other.
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
