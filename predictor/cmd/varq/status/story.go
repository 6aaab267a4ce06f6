package status

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
)

// tell shows each reservation as a text: the promise, then what happened. groups are those of which
// they are members, as far as their homes answer.
func tell(env *cli.Env, reservations []api.Reservation, groups map[string]api.GroupState, colour bool) error {
	stories := make([]string, len(reservations))
	for i, r := range reservations {
		stories[i] = story(env, r, groups[r.Group], colour)
	}
	_, err := fmt.Fprint(env.Stdout, strings.Join(stories, "\n"))
	return err
}

func story(env *cli.Env, r api.Reservation, group api.GroupState, colour bool) string {
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
	for _, line := range told.Story(&r, &group, env.Now(), env.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	return s.String()
}
