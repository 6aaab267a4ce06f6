package group

import (
	"maps"

	"github.com/varq-project/varq/predictor/workload"
)

// pause is how many seconds may lie between two jobs of a burst.
const pause = 600

// Bursts count the jobs of bursts. Those of a burst ask for the same, and are submitted one soon
// after the other. The zero Bursts have seen none.
type Bursts struct {
	by   map[workload.Request]burst
	full int // the number of bursts at which those that are over are forgotten
}

type burst struct {
	last int64 // submission
	jobs int
}

// Place returns which of its burst a job is, from 1 on. Jobs come in the order of submission.
func (b *Bursts) Place(j *workload.Job) int {
	if len(b.by) >= b.full {
		maps.DeleteFunc(b.by, func(_ workload.Request, old burst) bool { return j.Submit > old.last+pause })
		b.full = max(1024, 2*len(b.by))
	}
	if b.by == nil {
		b.by = map[workload.Request]burst{}
	}
	now := b.by[j.Request]
	if j.Submit > now.last+pause {
		now.jobs = 0
	}
	now.last, now.jobs = j.Submit, now.jobs+1
	b.by[j.Request] = now
	return now.jobs
}

// inBurst names the places in a burst that are alike.
func inBurst(place int) string {
	switch {
	case place == 1:
		return "1st of its kind"
	case place == 2:
		return "2nd of its kind"
	case place < 10:
		return "3rd to 9th of its kind"
	case place <= 30:
		return "10th to 30th of its kind"
	}
	return "31st or later of its kind"
}
