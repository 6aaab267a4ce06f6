package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/sched"
)

// past is what a category remembers of a job, in logarithms: its processors, and
// its run time, or the share of its limit that it ran.
type past struct{ procs, run float64 }

// at returns what a category by b remembers of a job of which all but the run time
// is known, and what is to be added to the category's run times to make them
// logarithms of seconds.
func (b by) at(j *sched.Job) (procs, unit float64) {
	switch b {
	case share:
		return 0, math.Log(float64(max(1, j.Limit)))
	case line:
		return math.Log(float64(max(1, j.Procs))), 0
	}
	return 0, 0
}

// category holds the newest of the jobs that are alike.
type category struct {
	jobs []past // a ring, once there are memory of them
	next int    // where in it the oldest is
	fit  fit    // of the newest
}

// add takes in a job, and forgets the oldest if there are too many.
func (c *category) add(b by, p past) {
	if len(c.jobs) < memory {
		c.jobs = append(c.jobs, p)
	} else {
		c.jobs[c.next] = p
		c.next = (c.next + 1) % memory
	}
	c.fit = c.longer(b, math.Inf(-1))
}

// newest returns the job that ended i jobs before the last.
func (c *category) newest(i int) past {
	at := c.next - 1 - i
	if at < 0 {
		at += len(c.jobs)
	}
	return c.jobs[at]
}

// longer fits the newest of those jobs that ran for longer than run.
func (c *category) longer(b by, run float64) fit {
	var buffer [recent]past
	jobs := buffer[:0]
	for i := 0; i < len(c.jobs) && len(jobs) < recent; i++ {
		if p := c.newest(i); p.run > run {
			jobs = append(jobs, p)
		}
	}
	return fitTo(b, jobs)
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
