package downey

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// Job is a malleable job: it runs on any number of processors, but on the same
// number from its start to its end.
type Job struct {
	Submit float64 // seconds since the day began
	Work   float64 // L, the run time on one processor, seconds
	Curve  speedup.Downey
}

// Most is the largest size that is of use to the job: its average parallelism,
// rounded up.
func (j *Job) Most() int32 { return int32(math.Ceil(j.Curve.A)) }

// Run returns how many seconds the job runs on n processors.
func (j *Job) Run(n int32) float64 { return j.Work / j.Curve.Of(float64(n)) }

// dayTime is for how long jobs arrive each day, in seconds.
const dayTime = 12 * 3600

// Day draws the malleable jobs of one day, in the order of their arrival. They
// arrive in its first twelve hours, and none at night (section 4). The work that
// arrives in these hours is on average Load times what Procs processors do in
// them: rho = lambda E[L]/N.
func (m Model) Day(random *rand.Rand) []Job {
	gap := work.Mean() / (m.Load * float64(m.Procs))
	var jobs []Job
	for t := gap * random.ExpFloat64(); t < dayTime; t += gap * random.ExpFloat64() {
		jobs = append(jobs, Job{
			Submit: t,
			Work:   work.Rand(random),
			Curve:  speedup.Downey{A: m.parallelism(random), Sigma: maxSigma * random.Float64()},
		})
	}
	return jobs
}
