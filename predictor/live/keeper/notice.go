package keeper

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
)

// warn tells the user that e's promise is endangered, or no longer is, by the present forecast. why
// is a reason that a user can act on, or "". later is as in api.Reservation. After a crash, the
// user is told again of an endangered promise.
func (k *reservations) warn(e *ledger.Entry, now float64, why string, later int64) {
	is := prob.Short(now, e.Prob)
	if !is && now < min(1, e.Prob+course.Margin) || !k.memory.endangered(e.ID, is, k.Now()) || k.Tell == nil {
		return
	}
	n := k.notice(e, api.NoticeEndangered)
	n.Now, n.Later = now, later
	what := "runs"
	if e.FinishBy != 0 {
		what = "ends"
	}
	n.Text = fmt.Sprintf("by the present forecast job %d %s by its deadline with probability %s, and %s was promised", e.Job, what, prob.Format(now), prob.Format(e.Prob))
	if !is {
		n.Event = api.NoticeSafe
		n.Text = fmt.Sprintf("job %d %s by its deadline with probability %s again", e.Job, what, prob.Format(now))
	} else if why != "" {
		n.Text += ": " + why
	}
	k.Tell(n)
}

// tellSettled tells the user what has become of e's promise, and why.
func (k *reservations) tellSettled(e *ledger.Entry, outcome, why string) {
	if k.Tell == nil || e.Job == 0 {
		return
	}
	n := k.notice(e, api.NoticeSettled)
	n.State, n.Text = outcome, fmt.Sprintf("the promise about job %d was kept", e.Job)
	switch outcome {
	case api.StateMissed:
		n.Text = fmt.Sprintf("the promise about job %d was missed", e.Job)
	case api.StateCancelled:
		n.Text = fmt.Sprintf("the promise about job %d is void", e.Job)
	}
	if why != "" {
		n.Text += ": " + why
	}
	k.Tell(n)
}

func (k *reservations) notice(e *ledger.Entry, event string) api.Notice {
	return api.Notice{
		Event: event, User: e.User, Job: e.Job, Name: e.Progress.Name, Plan: e.ID, State: e.Progress.State,
		BeginBy: e.BeginBy, FinishBy: e.FinishBy, Prob: e.Prob,
	}
}
