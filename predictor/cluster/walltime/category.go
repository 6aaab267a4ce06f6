package walltime

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// past is what a category remembers of a job, as logarithms: its processors, and its run time
// in seconds or as a share of its limit.
type past struct{ procs, run float64 }

// category holds a sample of the newest jobs that are alike.
//
// The jobs that ended last are not a good sample: among a hundred jobs that were submitted
// together, they are the longest. A batch is jobs that were submitted before the first of them
// ended. Each job of a batch is equally likely to be held, in whatever order they end (Vitter's
// reservoir sampling, algorithm R).
type category struct {
	jobs  []past // a ring, once it has memory jobs
	next  int    // index of the oldest in a full ring
	first int64  // when the first job of the batch ended
	batch int    // jobs of the batch that have ended
	added int    // jobs that have ended, since ever
	fit   fit    // of the newest jobs
}

// add adds a job that was submitted and ended at the given times. If the category is full, add
// replaces another job, or drops this one at random.
func (c *category) add(b by, p past, submit, end int64, random *rand.PCG) {
	if submit >= c.first || c.batch == 0 {
		c.first, c.batch = end, 0
	}
	c.batch++
	c.added++
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

// newest returns the job that was added i jobs before the last.
func (c *category) newest(i int) past {
	at := c.next - 1 - i
	if at < 0 {
		at += len(c.jobs)
	}
	return c.jobs[at]
}

// longer fits the newest jobs that ran for longer than run, a logarithm.
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

// fit is the mean of run times, or a least-squares line through run times against processors,
// all as logarithms. The zero fit has no jobs.
type fit struct {
	n            int
	procs, run   float64 // means
	slope        float64
	scatter      float64 // sum of squared deviations of the processors
	squares      float64 // sum of squared residuals of the run times
	observations int     // n, less 1 for a line
}

// fitTo fits jobs. A line needs at least three jobs, not all with the same processors.
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

// predict returns the run time at procs, and the lever: the variance of a new observation
// around that run time, divided by the variance of the run times. It is
//
//	1 + 1/n + (procs - mean)^2 / scatter,
//
// without the last term if the fit is not a line.
func (f *fit) predict(procs float64) (run, lever float64) {
	run, lever = f.run, 1+1/float64(f.n)
	if f.slope != 0 {
		x := procs - f.procs
		run += f.slope * x
		lever += x * x / f.scatter
	}
	return run, lever
}

// record is how well a template has predicted: the sum of squared errors, each divided by its
// lever, and their number.
type record struct{ squares, n float64 }

// add adds a prediction, its lever, and the run time that followed.
func (r *record) add(predicted, lever, run float64) {
	r.squares += (run - predicted) * (run - predicted) / lever
	r.n++
}

// variance returns the mean square. It begins at 2: one standard deviation is then a factor of
// e^sqrt(2), about four.
func (r *record) variance() float64 { return (r.squares + 2) / (r.n + 1) }

// halfWidth returns half the width of the 90 % interval of a new observation,
//
//	t[v] sqrt(lever (squares + doubt variance) / v),  v = n - 1 + doubt,
//
// with t[v] the .95 quantile of Student's t with v degrees of freedom. With doubt 0 it would be
// the usual interval, which has no width if two jobs happened to run equally long, and does not
// exist for one job. Here the template's record counts as doubt jobs of this category (a scaled
// inverse chi-square prior). With many jobs the record hardly matters.
func (f *fit) halfWidth(lever float64, r *record) float64 {
	v := f.observations - 1 + doubt
	return student[v] * math.Sqrt(lever*(f.squares+doubt*r.variance())/float64(v))
}
