package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
)

// homePatience is how long all homes of groups may take to answer.
const homePatience = 3 * time.Second

// groupsOf asks the homes of the groups that reservations are of. Those that do not answer are left out.
func (l *link) groupsOf(ctx context.Context, reservations []api.Reservation) map[string]api.GroupState {
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
			at.site, at.endpoint = r.Home, ""
		}
		home, err := at.dial()
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

// promiseGroups sets the probabilities with which the groups of reservations are promised, as far as their homes tell.
func promiseGroups(reservations []api.Reservation, groups map[string]api.GroupState) {
	for i := range reservations {
		if r := &reservations[i]; r.Group != "" {
			r.GroupProb = cmp.Or(groups[r.Group].Prob, r.GroupProb)
		}
	}
}

// company says with which other jobs the work of a plan's job runs, or instead of which.
func company(g *api.GroupState, plan string) string {
	parts := map[int][]string{} // the other jobs, by part; those below 0 are parts of one member
	var order []int
	own := 0
	for i := range g.Members {
		m := &g.Members[i]
		part := m.Part
		if part == 0 && g.Kind == api.GroupAll {
			part = -1 - i
		}
		if m.Plan == plan {
			own = part
			continue
		}
		if parts[part] == nil {
			order = append(order, part)
		}
		parts[part] = append(parts[part], jobOfGroup(m))
	}
	var others []string
	for _, part := range order {
		if part != own || g.Kind == api.GroupAny {
			others = append(others, strings.Join(parts[part], " or "))
		}
	}
	switch instead := strings.Join(parts[own], " or "); {
	case len(g.Members) == 0:
		return "whether its work runs depends on other jobs, too"
	case len(g.Members) == 1:
		return "there is no other job in it"
	case g.Kind == api.GroupAny:
		return "the first to start runs, this job or " + instead
	case len(others) == 0:
		return "one job runs, this one or " + instead
	case instead != "":
		return fmt.Sprintf("this job, or %s instead, begins together with %s", instead, strings.Join(others, ", and "))
	default:
		return "this job begins together with " + strings.Join(others, ", and ")
	}
}

// together says what a group was promised with.
func together(g *api.GroupState) string {
	if len(g.Members) == 0 {
		return "the site that keeps the group, and knows its probability, does not tell now"
	}
	return fmt.Sprintf("the group with probability %s (forecast %s)", prob.Format(g.Prob), prob.Format(g.Estimate))
}

// jobOfGroup names the job of a member of a group.
func jobOfGroup(m *api.GroupMember) string {
	text := fmt.Sprintf("job %d", m.Job)
	if m.Site != "" {
		text += " at " + m.Site
	}
	if m.Partition != "" {
		text += fmt.Sprintf(" (partition %s)", m.Partition)
	}
	return text
}
