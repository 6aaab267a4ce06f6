// Package look has Slurm's queue as one look shows it. The queue is walked once for all who look
// for jobs in it by number, or by what their comments name, and once for all who ask which jobs
// have begun to wait since the last look.
package look

import (
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

// Look is Slurm's queue, or a part of it. Several goroutines read it, and none changes it.
type Look struct {
	// At is the time before the queue was read, Unix seconds: a job that is pending in Jobs had not
	// started then.
	At   int64
	Jobs []slurm.QueueEntry
	ByID map[int64]*slurm.QueueEntry
	// Plans are the jobs by the plans that their comments name, and Sizes by the questions about
	// sizes.
	Plans, Sizes Named
	// Arrays are the entries of job arrays, by the numbers of these: tasks, and those that Slurm has
	// not split off yet.
	Arrays map[int64][]*slurm.QueueEntry
}

// New returns the Look of jobs, which it keeps.
func New(jobs []slurm.QueueEntry, at int64) *Look {
	l := &Look{At: at, Jobs: jobs, ByID: make(map[int64]*slurm.QueueEntry, len(jobs)), Plans: Named{}, Sizes: Named{}, Arrays: map[int64][]*slurm.QueueEntry{}}
	for i := range jobs {
		j := &jobs[i]
		l.ByID[j.ID] = j
		if j.ArrayJob != 0 {
			l.Arrays[j.ArrayJob] = append(l.Arrays[j.ArrayJob], j)
		}
		if plan, ok := api.PlanInComment(j.Comment); ok {
			l.Plans[plan] = append(l.Plans[plan], j)
		}
		if id, ok := api.SizeInComment(j.Comment); ok {
			l.Sizes[id] = append(l.Sizes[id], j)
		}
	}
	return l
}

// Named has jobs by what their comments name, in the order of the queue.
type Named map[string][]*slurm.QueueEntry

// Claimant returns the job of a user whose comment names something, or nil if there is none: of
// several the one that was submitted first.
func (n Named) Claimant(named, user string) *slurm.QueueEntry {
	var first *slurm.QueueEntry
	for _, j := range n[named] {
		if j.User == user && (first == nil || j.Submit < first.Submit || j.Submit == first.Submit && j.ID < first.ID) {
			first = j
		}
	}
	return first
}
