package keeper

import (
	"cmp"
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// notStartedBySlurm comes before Slurm's reason.
const notStartedBySlurm = "Slurm does not start it: "

// requeuedTooLate is the obstacle of a job that is requeued shortly before its deadline.
const requeuedTooLate = "it was put back into the queue, and Slurm starts such a job no sooner than two minutes later, after the deadline"

// setForecast notes how likely e's promise is to be kept with the job j as it is, and the obstacle
// if it cannot be kept. r is the request that was planned again, and revised is the result. Slurm's
// word that it does not start the job counts more than limits, which were read a while ago.
func (k *reviser) setForecast(p *trajectory.Planner, r *trajectory.Request, e *ledger.Entry, j *slurm.QueueEntry, revised *trajectory.Revision) {
	now, why := revised.Forecast, obstacle{}
	job := p.Cluster.Job(r.Job, nil)
	if excluded(p.Cluster, job) != nil {
		now = 0
	}
	if slurm.BeyondLimit(j.Reason) && revised.Begin == e.Progress.BeginTime && !shrinks(job, j) {
		now = 0
	}
	if now == 0 {
		why = k.against(p, r, e, j, revised)
	}
	k.memory.foresee(e.ID, now, why, 0)
	if why == (obstacle{}) && j.RestartCount == 0 {
		now = max(now, revised.Prob) // the job is about to be moved
	}
	if !e.Progress.Yielded {
		k.warn(e, now, why.reason(), 0)
	}
}

// excluded returns the rule by which Slurm never starts a job, or no longer takes one like it,
// however short it is. It returns nil if there is none.
func excluded(c *limits.Cluster, job *limits.Job) *limits.Rule {
	return cmp.Or(job.CheckSize(), job.CheckNeeds(), c.CheckReservation(&job.Request))
}

// shutOut says that the reservation that r, the request of the job of a number, asks for no longer
// admits it, and what to do. It is "" if it does.
func shutOut(c *limits.Cluster, r *workload.Request, id int64) string {
	rule := c.CheckReservation(r)
	if rule == nil {
		return ""
	}
	return fmt.Sprintf("%s any more: ask whoever keeps it, or take the job out of it ('scontrol update jobid=%d reservationname=')", rule.Says, id)
}

// shrinks reports whether a job's entry in the queue, whose time limit includes a hold, is within
// the limits once less of it is left to hold.
func shrinks(job *limits.Job, j *slurm.QueueEntry) bool {
	longest, _ := job.MaxLimit()
	return longest != limits.None && job.Limit <= longest && longest < j.Limit
}

// obstacle is the reason why a promise is not likely to be kept, in most cases why its forecast is
// 0. Without a reason it is the zero value.
type obstacle struct {
	says string // part of a sentence
	// passing is true if the reason is about the present only. Once it has passed, it does not
	// explain why the job had not started before.
	passing bool
	unknown bool // it is the reason why nothing is forecast
}

// noStart and noEnd are the obstacles of a job if only the forecast speaks against it.
var (
	noStart = obstacle{says: "no start in time is forecast"}
	noEnd   = obstacle{says: "no end in time is forecast"}
)

// reason returns the obstacle's text, or "" for noStart and noEnd.
func (o obstacle) reason() string {
	if o == noStart || o == noEnd {
		return ""
	}
	return o.says
}

// lasting returns the reason, or "" if it is passing.
func (o obstacle) lasting() string {
	if o.passing {
		return ""
	}
	return o.reason()
}

// against returns why e's job j does not start by the deadline of r: because of Slurm's rules, or
// else because of Slurm's own word or the forecast.
func (k *reviser) against(p *trajectory.Planner, r *trajectory.Request, e *ledger.Entry, j *slurm.QueueEntry, revised *trajectory.Revision) obstacle {
	c := p.Cluster
	if partition := c.Partitions[r.Job.Partition]; !partition.Up {
		return obstacle{says: partition.Closed()}
	}
	job := c.Job(r.Job, nil)
	if why := shutOut(c, &r.Job, r.ID); why != "" {
		return obstacle{says: why}
	}
	if longest, rule := job.MaxLimit(); longest != limits.None && longest < j.Limit {
		return obstacle{says: fmt.Sprintf("%s, and the job's time limit is %s", rule.Says, slurmtime.FormatDuration(j.Limit))}
	}
	if rule := excluded(c, job); rule != nil {
		return obstacle{says: rule.Says}
	}
	shortage := job.ShortageBy(r.Now, r.Deadline)
	blocking := trajectory.Blocking(c, r, max(r.Now, j.Eligible), j.Limit)
	switch {
	case slurm.BeyondLimit(j.Reason):
		return obstacle{says: notStartedBySlurm + j.Reason}
	case j.RestartCount > 0 && j.Eligible > r.Deadline:
		return obstacle{says: requeuedTooLate, passing: true}
	case e.Progress.Yielded && j.Eligible > r.Deadline:
		return obstacle{says: fmt.Sprintf("the begin time%s is %s, after the deadline", course.OfTasks(j), slurmtime.Stamp(j.Eligible, k.Zone))}
	case shortage != "":
		return obstacle{says: shortage, passing: true}
	case blocking != "":
		return obstacle{says: blocking}
	case revised.Room == 0:
		return obstacle{says: trajectory.Crowd(c, r, revised.Begin, false, "no")}
	case revised.Late:
		return obstacle{says: "others, such as jobs that wait for their begin time, leave too little room at the deadline, and this job starts after them"}
	}
	if unknown := p.Down(*r, trajectory.Submission{Begin: j.Eligible, Limit: j.Limit}); unknown != "" {
		return obstacle{says: unknown, passing: true, unknown: true}
	}
	return noStart
}
