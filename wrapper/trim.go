package wrapper

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/wrapper/ticket"
)

// slack is by how many seconds a limit that varq has set may be longer than planned. A job may come
// to Slurm after its planned begin time, because a submission takes a moment.
const slack = 120

// TrimLimit lowers a job's time limit to the whole minutes that its work needs if the work begins
// at begin, in Unix seconds. It never raises a limit. In two cases it does nothing. If the limit is
// longer than varq would set, somebody has given the work more time. If the job is to start again,
// it is not known yet what the work needs.
func TrimLimit(q Queue, job, begin int64, t ticket.Ticket) error {
	j, err := q.Job(job)
	if err != nil {
		return err
	}
	if j.Pending {
		return nil
	}
	minutes := slurmtime.Minutes(t.WorkLimit + max(0, begin-j.Start))
	if j.extended(t) || j.Limit <= minutes*60 {
		return nil
	}
	return q.SetLimit(job, minutes)
}

// extended reports whether j's limit is longer than varq would set: somebody has given the work
// more time. A task of an array has the limit with which the array became eligible, and may be
// eligible later itself: as soon as fewer of the others run.
func (j *Job) extended(t ticket.Ticket) bool {
	eligible := j.Eligible
	if j.Task && eligible > t.HoldUntil {
		eligible = j.Submit
	}
	longest := 60 * slurmtime.Minutes(t.WorkLimit+max(0, t.HoldUntil-eligible))
	if eligible <= j.Submit {
		longest += slack
	}
	return j.Limit > longest
}

// The options with which StartTrim runs varq-wrapper.
const (
	FlagTrim   = "trim"
	FlagJob    = "job"
	FlagBegin  = "begin"
	FlagTicket = "ticket"
)

// StartTrim starts this program again to trim a job's limit, and does not wait for it.
func StartTrim(job, begin int64, t ticket.Ticket) error {
	option := func(name string, value any) string { return fmt.Sprintf("--%s=%v", name, value) }
	return StartBeside(nil, "--"+FlagTrim, option(FlagJob, job), option(FlagBegin, begin), option(FlagTicket, t))
}
