package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// similar is the categories that a job is compared with, and the job's own size.
type similar struct {
	alike
	procs, limit float64 // of the job, as logarithms
}

// similarTo returns the similar of j, given its categories.
func similarTo(j *sched.Job, a alike) similar {
	return similar{a, math.Log(float64(max(1, j.Procs))), math.Log(float64(max(1, j.Limit)))}
}

// units returns the logarithm of processors with which a category that predicts by b works, and
// the unit: adding the unit to the category's run times gives logarithms of seconds.
func (s *similar) units(b by) (procs, unit float64) {
	switch b {
	case line:
		return s.procs, 0
	case share:
		return 0, s.limit
	}
	return 0, 0
}

// saying is the prediction of a category for a job.
type saying struct {
	template       int
	run, halfWidth float64 // logarithms of seconds
	jobs           int
}

// surest returns the prediction with the tightest interval for a job of an age. Among equally
// tight ones it returns the most special. It reports false if no similar job ran for longer.
func (p *Predictor) surest(s *similar, age int64) (best saying, ok bool) {
	old := after(age)
	best.halfWidth = math.Inf(1)
	for t, c := range &s.alike {
		if c == nil {
			continue
		}
		by := templates[t].by
		procs, unit := s.units(by)
		f := &c.fit
		if age > 0 {
			longer := c.longer(by, old-unit)
			f = &longer
		}
		if f.n == 0 {
			continue
		}
		run, lever := f.predict(procs)
		if half := f.halfWidth(lever, &p.records[t]); half < best.halfWidth {
			best, ok = saying{t, run + unit, half, f.n}, true
		}
	}
	return best, ok
}
