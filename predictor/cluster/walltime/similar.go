package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// similar are the past jobs that a job is compared with.
type similar struct {
	alike
	procs, limit float64 // of the job, as logarithms
}

// similarTo returns past jobs of categories that j belongs to.
func similarTo(j *sched.Job, a alike) similar {
	return similar{a, math.Log(float64(max(1, j.Procs))), math.Log(float64(max(1, j.Limit)))}
}

// units returns the processors that a category by b is told of, and what is to be
// added to its run times to make them logarithms of seconds.
func (s *similar) units(b by) (procs, unit float64) {
	switch b {
	case line:
		return s.procs, 0
	case share:
		return 0, s.limit
	}
	return 0, 0
}

// saying is what a category says of a job.
type saying struct {
	template       int
	run, halfWidth float64 // logarithms of seconds
	jobs           int
}

// surest returns what the category says whose interval is the tightest for a job of
// an age; of equally tight ones the most special. It is false if no past job ran for
// longer.
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
