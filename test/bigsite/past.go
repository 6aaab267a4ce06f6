package bigsite

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/workload"
)

// past is what varqd has learnt from when it is asked: some days in which as many jobs ran and
// waited as do now. Jobs of the partition batch waited for as long as those before them took; those
// of the partition short hardly waited.
type past struct {
	now     int64
	most    int32
	every   float64 // seconds between two jobs of batch
	waiting float64 // seconds, in the mean
}

const (
	pastDays = 4
	meanRun  = 3600.0 // seconds that a job of batch runs, in the mean
	hour     = 3600
	day      = 24 * hour
)

func pastOf(o *Options, now int64) past {
	p := past{now: now, most: int32(o.mostCPUs()), every: meanRun / float64(o.Running)}
	p.waiting = p.every * float64(o.Pending+o.Tasks)
	return p
}

// since is the Unix time at which the past begins.
func (p past) since() int64 { return p.now - pastDays*day }

// jobs are the jobs that have ended by now, by their submit times, always the same.
func (p past) jobs() iter.Seq[workload.Job] {
	return func(yield func(workload.Job) bool) {
		random := rand.New(rand.NewPCG(2000, 5000))
		const shortEvery = 8 // jobs of batch to one of short
		for i, at := int64(1), float64(p.since()); at < float64(p.now); i, at = i+1, at+random.ExpFloat64()*p.every {
			j := workload.Job{ID: i, State: workload.Completed, Submit: int64(at), Eligible: int64(at)}
			j.User, j.Account = who(random)
			j.QOS, j.Nodes = "normal", 1
			wait := 0.0
			if i%shortEvery == 0 {
				j.Partition, j.CPUs, j.Limit = "short", 1, 60
				wait = 8 * random.ExpFloat64()
				j.End = int64(20 + 20*random.Float64())
			} else {
				j.Partition, j.CPUs, j.Limit = "batch", 1+random.Int32N(p.most), hour*(2+2*random.Int64N(3))
				// The queue was longer at times, and became so slowly.
				wait = p.waiting * (1 + .2*math.Sin(2*math.Pi*at/(pastDays*day))) * math.Exp(.1*random.NormFloat64())
				j.End = int64(min(meanRun*(.2+1.6*random.Float64()), float64(j.Limit)))
			}
			j.Start = j.Eligible + int64(wait)
			j.End += j.Start
			if j.End < p.now && !yield(j) {
				return
			}
		}
	}
}

// who draws a user and the account of the user.
func who(random *rand.Rand) (user, account string) {
	if random.IntN(2) == 0 {
		return "alice", "phys"
	}
	return "bob", "chem"
}
