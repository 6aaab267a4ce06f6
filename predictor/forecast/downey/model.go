package downey

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/stats"
)

// Model draws jobs for a machine of Procs processors, after section 2.2: work
// log-uniform, average parallelism log-uniform from 1 to Procs, variance of
// parallelism uniform from 0 to 2, arrivals a Poisson process.
type Model struct {
	Procs int32 // at least 1
	// Load is how much work arrives, as a fraction of what the machine could do;
	// greater than 0. What counts as work depends on what is drawn.
	Load float64
}

// work is the distribution of L, the run time on one processor, in seconds.
var work = stats.LogUniform{Min: math.Exp(2), Max: math.Exp(12)}

// maxSigma bounds the variance of parallelism.
const maxSigma = 2

// Lifetimes returns the distribution of the jobs' work, in seconds.
func (Model) Lifetimes() stats.LogUniform { return work }

// parallelism draws A.
func (m Model) parallelism(random *rand.Rand) float64 {
	return math.Exp(random.Float64() * math.Log(float64(m.Procs)))
}
