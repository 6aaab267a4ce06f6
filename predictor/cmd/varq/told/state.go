package told

import (
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
)

// Open reports whether the reservation has no outcome yet.
func Open(r *api.Reservation) bool {
	return r.State == api.StatePromised && !r.TakenBack || r.State == api.StatePending || r.State == api.StateHolding ||
		r.State == api.StateRunning && r.FinishBy != 0
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

// Endangered reports whether the promise is less likely to be kept than it was made, by more than forecasts are exact to.
func Endangered(r *api.Reservation) bool {
	mayFail := r.State == api.StatePending || r.State == api.StateHolding || r.FinishBy != 0 && r.Job != 0 && Open(r)
	return mayFail && (r.Rescue != nil || r.Obstacle != "" || r.Now != 0 && prob.Short(r.Now, r.Prob))
}

// ListNote returns the note of a reservation in a list. It says first if its promise is endangered. accept says how the user
// agrees to a Rescue.
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
