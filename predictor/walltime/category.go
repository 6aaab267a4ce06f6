package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/sched"
)

// past is what is remembered of a job, all in logarithms: its run time, the share
// of its limit that it ran, and its processors.
type past struct {
	run, share, procs float64
}

func remember(j *sched.Job) past {
	run := math.Log(float64(max(1, j.End-j.Start)))
	return past{run, run - math.Log(float64(max(1, j.Limit))), math.Log(float64(j.Procs))}
}

// category holds the newest of the jobs that are alike.
type category struct {
	jobs [memory]past // a ring
	n    int
	next int
}

// add takes in a job, and forgets the oldest if there are too many.
func (c *category) add(p past) {
	c.jobs[c.next] = p
	c.next = (c.next + 1) % memory
	c.n = min(c.n+1, memory)
}

// predict returns the logarithm of the run time of j by the category's jobs, and
// the variance of a new observation around it; false with too few jobs.
func (c *category) predict(by by, j *sched.Job) (x, variance float64, ok bool) {
	switch {
	case c.n < 2:
		return 0, 0, false
	case by == line:
		return c.line(math.Log(float64(j.Procs)))
	}
	n, sum := float64(c.n), 0.
	values := [memory]float64{}
	for i, p := range c.jobs[:c.n] {
		values[i] = p.run
		if by == share {
			values[i] = p.share
		}
		sum += values[i]
	}
	mean, squares := sum/n, 0.
	for _, v := range values[:c.n] {
		squares += (v - mean) * (v - mean)
	}
	if by == share {
		x = math.Log(float64(max(1, j.Limit)))
	}
	return x + mean, spread(squares, n-1) * (1 + 1/n), true
}

// line returns what the least-squares line of run times against processors says
// at procs. It wants three jobs, and that their processors differ.
func (c *category) line(procs float64) (x, variance float64, ok bool) {
	n := float64(c.n)
	var meanX, meanY, xx, xy, yy float64
	for _, p := range c.jobs[:c.n] {
		meanX += p.procs / n
		meanY += p.run / n
	}
	for _, p := range c.jobs[:c.n] {
		dx, dy := p.procs-meanX, p.run-meanY
		xx += dx * dx
		xy += dx * dy
		yy += dy * dy
	}
	if c.n < 3 || xx < 1e-9 {
		return 0, 0, false
	}
	dx := procs - meanX
	return meanY + xy/xx*dx, spread(yy-xy*xy/xx, n-2) * (1 + 1/n + dx*dx/xx), true
}

// spread returns the variance of a sum of squared deviations. A few run times that
// are equal do not prove that all are: one deviation more is counted, by a factor
// of e, which weighs less and less as jobs become many.
func spread(squares, freedom float64) float64 { return (max(0, squares) + 1) / freedom }
