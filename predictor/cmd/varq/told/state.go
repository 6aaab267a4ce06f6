package told

import (
	"cmp"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
)

// Open reports whether the reservation has no outcome yet.
func Open(r *api.Reservation) bool {
	return r.State == api.StatePromised && !r.TakenBack || r.State == api.StatePending || r.State == api.StateHolding ||
		r.State == api.StateRunning && r.FinishBy != 0
}

// Again reports whether the job waits again because it was requeued after its work had begun. The
// reservation has the times of the run before then.
func Again(r *api.Reservation) bool { return r.State == api.StatePending && r.WorkStart != 0 }

// Times returns from when on the job may start, when it has started, and when its work has begun:
// in the run to come if it waits again. A time that is not known yet is 0.
func Times(r *api.Reservation) (eligible, start, work int64) {
	if Again(r) {
		return r.Set.BeginTime, 0, 0
	}
	return cmp.Or(r.Eligible, r.Set.BeginTime), r.Start, r.WorkStart
}

// Held returns the seconds for which the job has held its nodes before its work, in all its runs.
func Held(r *api.Reservation, now int64) int64 {
	switch {
	case r.Start == 0:
		return r.HeldBefore
	case r.WorkStart != 0:
		return r.HeldBefore + max(0, r.WorkStart-r.Start)
	case r.End != 0:
		return r.HeldBefore + r.End - r.Start
	default:
		return r.HeldBefore + now - r.Start
	}
}

// Endangered reports whether the promise is less likely to be kept than it was made, by more than
// forecasts are exact to.
func Endangered(r *api.Reservation) bool {
	mayFail := r.State == api.StatePending || r.State == api.StateHolding || r.FinishBy != 0 && r.Job != 0 && Open(r)
	return mayFail && (r.Rescue != nil || r.Obstacle != "" || r.Now != nil && *r.Now != 0 && prob.Short(*r.Now, r.Prob))
}

// Now shows the present forecast of a reservation, or cli.None if it is settled or nothing is
// forecast.
func Now(r *api.Reservation) string {
	if !Open(r) || r.Now == nil {
		return cli.None
	}
	return prob.Format(*r.Now)
}

// ListNote returns the note of a reservation in a list. It says first if its promise is endangered.
// accept says how the user agrees to a Rescue.
func ListNote(r *api.Reservation, accept string) string {
	text := "endangered"
	switch {
	case !Endangered(r):
		return r.Note
	case r.Rescue != nil:
		text += ": " + accept
	case r.FinishBy != 0 && strings.HasPrefix(r.Note, text):
		return r.Note
	case r.Obstacle != "":
		text += ": " + r.Obstacle
	}
	if r.Note != "" && r.Note != r.Obstacle {
		text += "; " + r.Note
	}
	return text
}
