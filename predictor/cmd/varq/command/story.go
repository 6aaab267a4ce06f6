package command

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
)

// tell shows each reservation as a text: the promise, then what happened. groups are those of which
// they are members, as far as their homes answer.
func (e *Env) tell(reservations []api.Reservation, groups map[string]api.GroupState, colour bool) error {
	stories := make([]string, len(reservations))
	for i, r := range reservations {
		stories[i] = e.story(r, groups[r.Group], colour)
	}
	_, err := fmt.Fprint(e.Stdout, strings.Join(stories, "\n"))
	return err
}

func (e *Env) story(r api.Reservation, group api.GroupState, colour bool) string {
	s := cli.Listing{Width: 10}
	state := r.State
	if colour {
		state = stateColour(r).Paint(state)
	}
	name := ""
	if r.Name != "" {
		name = fmt.Sprintf(" %q", r.Name)
	}
	fmt.Fprintf(&s, "Job %d%s (plan %s) of %s: %s\n", r.Job, name, r.ID, r.User, state)
	for _, line := range told.Story(&r, &group, e.Now(), e.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	return s.String()
}
