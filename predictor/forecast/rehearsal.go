package forecast

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/workload"
)

const (
	// enough rehearsals are learnt of each job; from then on they are of one job in
	// so many as seldom says, as one in some hours is as good as the next.
	enough = 5000
	seldom = 4
)

// lead draws how many seconds before its submission a job might have been asked
// about: any order of magnitude between shortest and farthest is as likely.
func lead(rng *rand.Rand) int64 {
	return int64(shortest * math.Exp(rng.Float64()*math.Log(farthest/shortest)))
}

// rehearse returns a question that might have been asked some time ago about a job
// that begins to wait.
func rehearse(j *workload.Job, rng *rand.Rand) Question {
	q := ask(j)
	q.Now -= lead(rng)
	return q
}
