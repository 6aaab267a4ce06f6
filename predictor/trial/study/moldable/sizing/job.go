// Package sizing simulates a cluster on which some jobs can run on several numbers of processors.
// The size of each job is chosen when it is submitted, as `varq size` chooses it, or when the job
// starts. The cluster is first come, first served, with EASY backfilling.
//
// The result depends on the jobs and the Chooser alone. Times are Unix seconds, durations are
// seconds.
package sizing

import (
	"math"

	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/workload"
)

// Job is a job with all sizes that it can have.
type Job struct {
	ID, Submit int64
	// Request is what the user asked for. Its Limit and size are those of Asked.
	Request workload.Request
	Asked   Shape
	Curve   speedup.Curve
	// Least and Most are the fewest and the most processors that the job can have. They are those
	// of Asked if it is rigid.
	Least, Most int32
}

// Shape is a size of a job.
type Shape struct {
	Procs      int32
	Limit, Run int64 // the time limit, and how long the job runs, which is at most that
}

// Rigid reports whether the job can have one size only.
func (j *Job) Rigid() bool { return j.Least == j.Most }

// At returns the job's shape on a number of processors: its run time and its time limit change as
// the curve says, and the limit is a whole number of minutes.
func (j *Job) At(procs int32) Shape {
	if procs == j.Asked.Procs {
		return j.Asked
	}
	ratio := j.Curve.Of(float64(j.Asked.Procs)) / j.Curve.Of(float64(procs))
	const minute = 60
	limit := minute * int64(math.Ceil(ratio*float64(j.Asked.Limit)/minute))
	return Shape{procs, limit, min(limit, max(1, int64(math.Round(ratio*float64(j.Asked.Run)))))}
}

// Mold gives a job the sizes from 1 to most processors on which its time limit is at most longest,
// beside that which the user asked for.
func (j *Job) Mold(most int32, longest int64) {
	j.Most = max(most, j.Asked.Procs)
	for j.Least = j.Asked.Procs; j.Least > 1 && j.At(j.Least-1).Limit <= longest; {
		j.Least--
	}
}

// request returns what a forecaster is asked about the job in a shape.
func (j *Job) request(s Shape) workload.Request {
	r := j.Request
	r.Limit = s.Limit
	r.CPUs = s.Procs
	r.Nodes = max(1, int32(math.Round(float64(s.Procs)*float64(j.Request.Nodes)/float64(j.Asked.Procs))))
	return r
}

// candidates returns the sizes among which a job chooses, in increasing order: powers of two, the
// least and the most that it can have, the size asked for, and what is free.
func (j *Job) candidates(free int32) []int32 {
	var all []int32
	add := func(n int32) {
		if n < j.Least || n > j.Most {
			return
		}
		for i, m := range all {
			if m == n {
				return
			}
			if m > n {
				all = append(all[:i+1], all[i:]...)
				all[i] = n
				return
			}
		}
		all = append(all, n)
	}
	for n := int32(1); n <= j.Most; n *= 2 {
		add(n)
	}
	add(j.Least)
	add(j.Asked.Procs)
	add(j.Most)
	add(min(free, j.Most))
	return all
}
