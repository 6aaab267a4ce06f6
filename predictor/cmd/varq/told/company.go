package told

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
)

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
		return "the cluster that keeps the group, and knows its probability, does not tell now"
	}
	return fmt.Sprintf("the group with probability %s (estimate %s)", prob.Format(g.Prob), prob.Format(g.Estimate))
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
