package link

import (
	"context"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// homePatience is how long all homes of groups may take to answer.
const homePatience = 3 * time.Second

// Groups asks the homes of the groups that reservations are of. Those that do not answer are left
// out.
func (l *Link) Groups(ctx context.Context, reservations []api.Reservation) map[string]api.GroupState {
	ctx, cancel := context.WithTimeout(ctx, homePatience)
	defer cancel()
	known := map[string]api.GroupState{}
	for i := range reservations {
		r := &reservations[i]
		if _, done := known[r.Group]; r.Group == "" || done {
			continue
		}
		known[r.Group] = api.GroupState{}
		at := *l
		if r.Home != "" {
			at.Site, at.Endpoint = r.Home, ""
		}
		home, err := at.Dial()
		if err != nil {
			continue
		}
		states, err := home.GroupStates(ctx, api.GroupsQuery{Groups: []string{r.Group}, Members: true})
		if err == nil && len(states) == 1 {
			known[r.Group] = states[0]
		}
	}
	return known
}
