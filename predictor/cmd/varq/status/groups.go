package status

import (
	"cmp"

	"github.com/varq-project/varq/predictor/api"
)

// promiseGroups sets the probabilities with which the groups of reservations are promised, as far
// as their homes tell.
func promiseGroups(reservations []api.Reservation, groups map[string]api.GroupState) {
	for i := range reservations {
		if r := &reservations[i]; r.Group != "" {
			r.GroupProb = cmp.Or(groups[r.Group].Prob, r.GroupProb)
		}
	}
}
