package walltime

// life is how many outcomes a reliability remembers, on average: the weight of one
// falls by a factor of e for each life that come after it.
const life = 500

// start is how many outcomes the belief is worth that distributions are right.
const start = 20

// reliability tells what the probabilities of distributions were worth: which share
// of run times fell short of the quantile of each level. Its zero value believes
// them.
type reliability struct {
	bins    [levels]float64 // sum up to total
	total   float64
	killing killing
	// levels are those that quantiles have to be taken of: the i-th is not exceeded
	// by i of levels.
	levels [levels + 1]float32
}

// add takes in a run time of which the probability was from below to within. Where
// it is an atom, all between are equally well its rank, and share its weight.
func (r *reliability) add(below, within float64) {
	if r.total == 0 {
		r.total = start
		for i := range r.bins {
			r.bins[i] = float64(start) / levels
		}
	}
	const keep = 1 - 1./life
	for i := range r.bins {
		r.bins[i] *= keep
	}
	r.total = r.total*keep + 1
	from, to := below*levels, within*levels
	first, last := min(int(from), levels-1), min(int(to), levels-1)
	if first == last {
		r.bins[first]++
	} else {
		each := 1 / (to - from)
		r.bins[first] += each * (float64(first+1) - from)
		for i := first + 1; i < last; i++ {
			r.bins[i] += each
		}
		r.bins[last] += each * (to - float64(last))
	}
	r.invert()
}

// invert finds the levels.
func (r *reliability) invert() {
	i, sum := 1, 0.
	for b, n := range r.bins {
		for i < levels && float64(i)*r.total <= (sum+n)*levels {
			r.levels[i] = float32((float64(b) + (float64(i)*r.total/levels-sum)/n) / levels)
			i++
		}
		sum += n
	}
	for ; i <= levels; i++ {
		r.levels[i] = 1
	}
}

// level returns the i-th of the levels.
func (r *reliability) level(i int) float32 {
	if r.total == 0 {
		return float32(i) / levels
	}
	return r.levels[i]
}

// recalibrated returns the distribution whose quantiles are those of the levels
// that r, and by a share other, found them to be worth.
func (d *Distribution) recalibrated(r, other *reliability, share float64) Distribution {
	if d.before == 0 {
		return *d
	}
	k := 1 - float64(d.before)
	low, high := r.killing.of(k), other.killing.of(k)
	c := Distribution{limit: d.limit, before: float32(1 - (low + (high-low)*share))}
	for i := range c.quantiles {
		low := r.level(i)
		x := (low + (other.level(i)-low)*float32(share)) * levels
		b := min(int(x), levels-1)
		from, to := d.quantiles[b], d.quantiles[b+1]
		c.quantiles[i] = from + (to-from)*(x-float32(b))
	}
	return c
}

// test takes in how long a job ran of which d was said.
func (r *reliability) test(d *Distribution, run int64) {
	if d.before == 0 {
		return
	}
	r.killing.add(1-float64(d.before), run >= d.limit)
	if run < d.limit {
		r.add(min(1, d.Below(run)/float64(d.before)), min(1, d.Within(run)/float64(d.before)))
	}
}
