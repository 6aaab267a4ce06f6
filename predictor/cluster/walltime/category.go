package walltime

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// past is what a category remembers of a job, in logarithms: its processors, and
// its run time, or the share of its limit that it ran.
type past struct{ procs, run float64 }

// category holds jobs that are alike: a sample of those that were submitted last.
//
// Not simply those that ended last: of a hundred jobs that are submitted together,
// those are the longest. So of a batch, jobs that were submitted before the first of
// them had ended, each is as likely to be held as any other, in whatever order they
// end (Vitter's reservoir sampling, algorithm R).
type category struct {
	jobs  []past // a ring, once there are memory of them
	next  int    // where in it the oldest is
	first int64  // when the first job of the batch ended
	batch int    // jobs of the batch that have ended
	fit   fit    // of the newest
}

// add takes in a job that was submitted and ended at these times, and forgets another
// if there are too many. It draws from random.
func (c *category) add(b by, p past, submit, end int64, random *rand.PCG) {
	if submit >= c.first || c.batch == 0 {
		c.first, c.batch = end, 0
	}
	c.batch++
	switch {
	case c.batch > memory:
		i, _ := bits.Mul64(random.Uint64(), uint64(c.batch))
		if i >= memory {
			return
		}
		c.jobs[i] = p
	case len(c.jobs) < memory:
		c.jobs = append(c.jobs, p)
	default:
		c.jobs[c.next] = p
		c.next = (c.next + 1) % memory
	}
	var jobs [recent]past
	n := min(len(c.jobs), recent)
	for i := range n {
		jobs[i] = c.newest(i)
	}
	c.fit = fitTo(b, jobs[:n])
}

// newest returns the job that was taken in i jobs before the last.
func (c *category) newest(i int) past {
	at := c.next - 1 - i
	if at < 0 {
		at += len(c.jobs)
	}
	return c.jobs[at]
}

// longer fits the newest of those jobs that ran for longer than run.
func (c *category) longer(b by, run float64) fit {
	var jobs [recent]past
	n, skipped := 0, 0
	for i := 0; i < len(c.jobs) && n < recent; i++ {
		if p := c.newest(i); p.run > run {
			jobs[n] = p
			n++
		} else {
			skipped++
		}
	}
	if skipped == 0 {
		return c.fit
	}
	return fitTo(b, jobs[:n])
}

// fit is the mean of logarithms of run times, or a least-squares line through them
// against logarithms of processors. The zero fit is of no jobs.
type fit struct {
	n            int
	procs, run   float64 // means
	slope        float64
	scatter      float64 // sum of squared deviations of the processors
	squares      float64 // of what is left of the run times
	observations int     // n less what has been fitted besides the first mean
}

// fitTo fits jobs. A line wants three jobs, and that their processors differ.
func fitTo(b by, jobs []past) fit {
	f := fit{n: len(jobs), observations: len(jobs)}
	if f.n == 0 {
		return f
	}
	for _, p := range jobs {
		f.procs += p.procs
		f.run += p.run
	}
	f.procs /= float64(f.n)
	f.run /= float64(f.n)
	product := 0.
	for _, p := range jobs {
		x, y := p.procs-f.procs, p.run-f.run
		f.scatter += x * x
		product += x * y
		f.squares += y * y
	}
	if b != line {
		return f
	}
	if f.n < 3 || f.scatter < 1e-9 {
		return fit{}
	}
	f.slope = product / f.scatter
	f.squares = max(0, f.squares-f.slope*product)
	f.observations--
	return f
}

// predict returns the run time at procs, and by what factor the variance of a new
// observation around it is larger than that of the run times:
//
//	1 + 1/n + (procs - mean)^2 / scatter,  the last for a line only.
func (f *fit) predict(procs float64) (run, lever float64) {
	run, lever = f.run, 1+1/float64(f.n)
	if f.slope != 0 {
		x := procs - f.procs
		run += f.slope * x
		lever += x * x / f.scatter
	}
	return run, lever
}

// record is how well a template has predicted: the mean square of the deviations
// of run times from predictions, divided by their levers.
type record struct{ squares, n float64 }

// add takes in a prediction and what came of it.
func (r *record) add(predicted, lever, run float64) {
	r.squares += (run - predicted) * (run - predicted) / lever
	r.n++
}

// variance returns the mean square. Before there is any, run times are within a
// factor of e^sqrt(2), about four, of predictions.
func (r *record) variance() float64 { return (r.squares + 2) / (r.n + 1) }

// halfWidth returns half the width of the 90 % interval of a new observation,
//
//	t[v] sqrt(lever (squares + doubt variance) / v),  v = n - 1 + doubt,
//
// t[v] the .95 quantile of Student's t with v degrees of freedom, and squares those
// left by the fit. With doubt 0 it is the usual one, which is of no width if two
// jobs happened to run equally long, and of none at all after one. Here it begins
// with the template's own record, as if it were of doubt jobs of this category
// (which is a scaled inverse chi-square prior), and as jobs become many they speak
// for themselves.
func (f *fit) halfWidth(lever float64, r *record) float64 {
	v := f.observations - 1 + doubt
	return student[v] * math.Sqrt(lever*(f.squares+doubt*r.variance())/float64(v))
}
