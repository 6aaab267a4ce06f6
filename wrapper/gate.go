package wrapper

import (
	"errors"

	"github.com/varq-project/varq/predictor/api"
)

// ErrLost is returned for work that must not run: another job of its group runs instead, or no job
// of the group runs.
var ErrLost = errors.New("the job's group is decided without it")

const (
	// gateStep is the number of seconds between two questions whether the work may begin.
	gateStep = 1
	// gateTime is the number of seconds without any answer after which the work is given up.
	gateTime = 600
	// gateEarly is how many seconds before its time held work begins to ask. So the group's home
	// knows all jobs of the group when the time comes.
	gateEarly = 10
)

// Gate asks the site's varqd whether the work of a job, or of a task of an array, may begin.
type Gate func(plan string, job int64) (api.GateAnswer, error)

// pass waits until the work of a member of a group may begin. The only error is ErrLost.
//
// Invariant: if anything goes wrong, the work of a member does not run, unlike all other work.
// Otherwise it might run twice, or alone.
func (h *Hold) pass() error {
	if err := h.Clock.SleepUntil(max(0, h.HoldUntil-gateEarly)); err != nil {
		return h.lose(err.Error())
	}
	said, now := false, h.Clock.Now()
	// The home may be another site's. It may let the nodes idle until the latest time at which the
	// work of the group can begin, and no longer.
	latest := api.LatestGo(max(h.BeginBy, h.HoldUntil))
	until, last := now+gateTime, max(now, latest)+gateTime
	for {
		answer, err := h.Gate(h.Plan, h.Job)
		now := h.Clock.Now()
		switch {
		case err == nil && answer.Answer == api.GateGo:
			h.sleepUntil(max(min(answer.At, latest), h.HoldUntil))
			return nil
		case err == nil && answer.Answer == api.GateLost:
			return h.lose(answer.Why)
		case err == nil && now >= last:
			return h.lose("the cluster that keeps its group does not decide")
		case err == nil:
			until = min(now+gateTime, last)
		case api.Refused(err), now >= until:
			return h.lose("nobody says that it may: " + err.Error())
		case h.Lead && !said:
			h.say("the work waits, as nobody says yet whether it is the one that runs: %v", err)
			said = true
		}
		if err := h.Clock.SleepUntil(now + gateStep); err != nil {
			return h.lose(err.Error())
		}
	}
}

// lose cancels the job, because its work does not run.
func (h *Hold) lose(why string) error {
	if !h.Lead {
		return ErrLost
	}
	h.say("the work of this job does not run: %s", why)
	if h.Job != 0 {
		if err := h.Queue.Cancel(h.Job); err != nil {
			h.say("the job cannot be cancelled: %v", err)
		}
	}
	return ErrLost
}
