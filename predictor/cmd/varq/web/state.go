package web

import (
	"cmp"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
)

// state says in words what the state of a reservation means to its user.
func state(r *api.Reservation) string {
	if r.State == api.StateRunning && 0 < r.Start && r.Start <= r.BeginBy {
		return "running, in time"
	}
	if r.TakenBack && r.Unused() {
		return "taken back"
	}
	return cmp.Or(states[r.State], r.State)
}

// states says so for each state that is not plain by its name.
var states = map[string]string{
	api.StatePromised: "promised; no job yet",
	api.StatePending:  "promised; its job waits",
	api.StateHolding:  "in time; has its nodes, and its work waits",
}

// goesOn reports whether a reservation is not over: it has no outcome yet, or its job runs.
func goesOn(r *api.Reservation) bool { return told.Open(r) || r.State == api.StateRunning }

// accepts says by which link the user agrees to a rescue, and what that costs at most.
func accepts(rescue *api.Rescue) string {
	if rescue == nil {
		return ""
	}
	return fmt.Sprintf("Accept would restore it, for up to %s node-hours of idle nodes in all", api.HoursUp(rescue.Worst.NodeSeconds))
}

// missed says what could be done against a miss, or "" if the promise was not missed.
func missed(r *api.Reservation) string {
	if r.State != api.StateMissed {
		return ""
	}
	return fmt.Sprintf("A promise of %s may be missed %.2g times in 100. A higher probability makes that rarer, and may cost more; against nodes that go down you can do nothing.",
		prob.Format(r.Prob), 100*(1-r.Prob))
}
