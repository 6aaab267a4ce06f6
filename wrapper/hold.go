// Package wrapper holds the work of a job on its nodes until the time that its reservation
// promises. It does not need varqd: the job's ticket has the time at which the work may start, and
// Slurm's own commands change the job. If varqd answers, it may say that nothing is promised about
// the job any more, and then nothing is held. The only job that needs varqd is a member of a group:
// varqd knows whether its work runs (gate.go).
//
// Invariant: whatever goes wrong here, the work runs, unless the job is a member of a group. The
// error is printed to the job's standard error.
package wrapper

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/said"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/wrapper/ticket"
)

// ErrCancelled is returned for work that must not run: its job has started too late, and the user
// asked for it to be cancelled in this case.
var ErrCancelled = errors.New("the job has started too late")

// Job is the state of a job that has started. Times are Unix seconds, Limit is seconds.
type Job struct {
	Submit, Eligible, Start int64
	Limit                   int64
	// End is when Slurm stops the job, or 0 without a limit. If the job was suspended, End is later
	// than Start plus Limit.
	End int64
	// Task is true of a task of an array.
	Task bool
	// Pending is true if Slurm has forgotten that the job has started, because slurmctld was killed
	// before it had saved the start. Slurm will start the job again, and Start is a guess.
	Pending bool
}

// Queue is the part of Slurm that the wrapper uses.
type Queue interface {
	// Job returns the state of a job.
	Job(id int64) (Job, error)
	// SetLimit sets a job's time limit, in minutes.
	SetLimit(id, minutes int64) error
	// Cancel cancels a job.
	Cancel(id int64) error
}

// Clock returns the time, in Unix seconds, and sleeps until a given time.
type Clock interface {
	Now() int64
	// SleepUntil returns when the clock shows the time at, or immediately if at has passed.
	SleepUntil(at int64) error
}

// Hold holds the work of one task until its time.
type Hold struct {
	ticket.Ticket
	// Job is the job's ID, 0 outside of a job. Array is that of the array of which it is a task, or
	// 0.
	Job, Array int64
	// Restarts is how often Slurm has requeued the job.
	Restarts int
	// Lead is true in the one task that acts for the whole job.
	Lead bool
	// Cancel is true if the user of varq-wrapper wants no work in a job that starts after BeginBy.
	// For a reservation it is false, because varqd cancels late jobs while they wait. A node does
	// not know what else has kept a job from starting, and so does not cancel it.
	Cancel bool
	// Queue is Slurm.
	Queue Queue
	Clock Clock
	// Gate asks varqd whether the work may start.
	Gate Gate
	// Trim trims the job's limit by TrimLimit in another process, because the work must not wait
	// for Slurm's answer.
	Trim func(job, begin int64, t ticket.Ticket) error
	// Log receives messages for the user.
	Log io.Writer
}

// Wait returns when the work may start. The only errors are ErrCancelled and ErrLost.
//
// The start of held work is known from the beginning. So the job's limit is trimmed at the
// beginning too, and the scheduler knows earlier when the nodes will be free.
func (h *Hold) Wait() error {
	now := h.Clock.Now()
	if now > h.BeginBy {
		if h.missed() {
			h.cancel()
			return ErrCancelled
		}
		h.sayLate(now)
	}
	until := h.HoldUntil
	if h.Group == "" && h.Job != 0 && h.Plan != "" && until-now > leastAsked {
		until = h.promised()
	}
	if h.Lead && h.Job != 0 && h.WorkLimit != 0 {
		if err := h.Trim(h.Job, max(now, until), h.Ticket); err != nil {
			h.say("the job keeps a longer time limit than it needs: %v", err)
		}
	}
	if h.Group != "" {
		return h.pass()
	}
	h.sleepUntil(until)
	return nil
}

// leastAsked is for how many seconds work has to be held at least, so that varqd is asked about it:
// longer than the answer may take.
const leastAsked = 15

// promised returns until when the work of a job is to be held that is in no group: 0 if nothing is
// promised about the job any more. If nobody says that, the ticket tells.
func (h *Hold) promised() int64 {
	answer, err := h.Gate(h.Plan, cmp.Or(h.Array, h.Job))
	if err != nil || answer.Answer != api.GateGo || answer.At >= h.HoldUntil {
		return h.HoldUntil
	}
	if h.Lead {
		h.say("nothing is promised about this job any more (varq status tells why): its work starts at once")
	}
	return answer.At
}

// sleepUntil returns at the time at, when the work may start.
func (h *Hold) sleepUntil(at int64) {
	if err := h.Clock.SleepUntil(at); err != nil {
		h.say("the work starts at once: %v", err)
	}
}

// missed reports whether the work must not run any more. The work still runs in these cases: the
// job was requeued, it started in time and only the work is late, Slurm does not answer, or Slurm
// has forgotten that the job has started.
func (h *Hold) missed() bool {
	if !h.Cancel || h.Restarts > 0 {
		return false
	}
	if h.Job == 0 {
		return true
	}
	job, err := h.Queue.Job(h.Job)
	if err != nil {
		h.say("nobody knows whether the job started in time, and so the work runs: %v", err)
		return false
	}
	return !job.Pending && job.Start > h.BeginBy
}

func (h *Hold) cancel() {
	if !h.Lead {
		return
	}
	h.say("the deadline %s has passed: the work does not run, as --on-miss=cancel says", format(h.BeginBy))
	if h.Job == 0 {
		return
	}
	if err := h.Queue.Cancel(h.Job); err != nil {
		h.say("the job cannot be cancelled: %v", err)
	}
}

// sayLate logs that the job has started after the deadline. A delay of one second is logged
// only after a requeue.
func (h *Hold) sayLate(now int64) {
	switch late := now - h.BeginBy; {
	case !h.Lead, h.Array != 0 && h.Plan != "": // the promise may be about other tasks of the array
	case h.Restarts > 0:
		h.say("requeued, and started again after the deadline %s: the work starts at once", format(h.BeginBy))
	case late > 1:
		h.say("started %s after the deadline %s", slurmtime.FormatDuration(late), format(h.BeginBy))
	}
}

// say logs one line.
func (h *Hold) say(sentence string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(sentence, args...), "\n", "; ")
	fmt.Fprintf(h.Log, "varq: %s\n", said.Printable(line))
}

func format(at int64) string { return slurmtime.Format(at, time.Local) }
