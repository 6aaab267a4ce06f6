package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// tell shows each reservation as a text: the promise, then what happened. groups are those of which they are members, as far as
// their homes answer.
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
	what := "running"
	if r.FinishBy != 0 {
		what = "finished"
	}
	promised := fmt.Sprintf("on %s: %s by %s", e.moment(r.Promised), what, e.moment(r.Deadline()))
	if r.Group == "" {
		s.Line("Promised", "%s with probability %s (forecast %s)", promised, prob.Format(r.Prob), prob.Format(r.Estimate))
	} else {
		s.Line("Promised", "%s; %s", promised, together(&group))
	}
	switch {
	case open(r) && r.Group != "" && r.State == api.StateHolding:
		s.Line("Now", "it has its nodes; its group decides whether its work begins")
	case open(r) && r.Obstacle != "":
		s.Line("Now", "probability %s: %s", prob.Format(r.Now), r.Obstacle)
	case open(r) && r.Now != 0:
		s.Line("Now", "probability %s", prob.Format(r.Now))
	}
	if r.Later != 0 {
		s.Line("Later", "by %s it ends with probability %s", e.moment(r.Later), prob.Format(r.Prob))
	}
	if r.Group != "" {
		keeper := "this site"
		if r.Home != "" {
			keeper = "site " + r.Home
		}
		s.Line("Group", "%s, kept by %s: %s", r.Group, keeper, company(&group, r.ID))
	}
	s.Line("Asks for", "%s, %d CPUs for %s, in all %s", askedNodes(&r), r.CPUs,
		slurmtime.FormatDuration(r.WorkLimit), slurmtime.FormatDuration(r.Set.TimeLimit))
	if r.Eligible != 0 && r.Eligible <= e.Now() {
		s.Line("Eligible", "since %s", e.moment(r.Eligible))
	} else {
		s.Line("Eligible", "from %s", e.moment(cmp.Or(r.Eligible, r.Set.BeginTime)))
	}
	if r.HoldUntil != 0 {
		s.Line("At most", "%s for idle nodes: %s", r.Ceiling.RoundedUp(), r.Ceiling.Share(r.Work))
	}
	if seconds := e.held(r); r.FinishBy == 0 && (r.Start != 0 || seconds != 0) {
		since := "in runs before this one"
		if r.Start != 0 {
			since = "from " + e.moment(r.Start)
		}
		text := fmt.Sprintf("%s for %s: %s node-hours", since, slurmtime.FormatDuration(seconds), nodeHours(float64(r.Has())*float64(seconds)))
		if r.Start != 0 && r.HeldBefore != 0 {
			text += fmt.Sprintf(", %s of it before Slurm requeued the job", slurmtime.FormatDuration(r.HeldBefore))
		}
		s.Line("Held", "%s", text)
	}
	switch {
	case r.WorkStart == 0:
	case r.FinishBy != 0:
		s.Line("Work", "began %s", e.moment(r.WorkStart))
	default:
		s.Line("Work", "began %s, %s", e.moment(r.WorkStart), against(r.WorkStart, r.BeginBy))
	}
	switch {
	case r.End == 0:
	case r.FinishBy != 0:
		s.Line("Ended", "%s, %s", e.moment(r.End), against(r.End, r.FinishBy))
	default:
		s.Line("Ended", "%s", e.moment(r.End))
	}
	if r.Note != "" {
		s.Line("Note", "%s", slurmtime.InZone(r.Note, e.Zone))
	}
	if hint := next(r, e.Now()); hint != "" {
		s.Line("Next", "%s", hint)
	}
	for i, event := range r.Events {
		name := ""
		if i == 0 {
			name = "Events"
		}
		s.Line(name, "%s %s: %s", e.moment(event.At), event.Kind, slurmtime.InZone(event.Text, e.Zone))
	}
	return s.String()
}

// askedNodes says how many nodes a job asks for, and was given.
func askedNodes(r *api.Reservation) string {
	switch most := r.MostNodes(); {
	case r.Allocated != 0 && r.Allocated != r.Nodes:
		return fmt.Sprintf("%d nodes, was given %d", r.Nodes, r.Allocated)
	case r.Allocated == 0 && most > r.Nodes:
		return fmt.Sprintf("%d to %d nodes", r.Nodes, most)
	}
	return fmt.Sprintf("%d nodes", r.Nodes)
}

// against says how long before or after its deadline a start is.
func against(start, deadline int64) string {
	switch late := start - deadline; {
	case late > 0:
		return slurmtime.FormatDuration(late) + " after the deadline"
	case late < 0:
		return slurmtime.FormatDuration(-late) + " before the deadline"
	default:
		return "at the deadline"
	}
}

// endangered reports whether the promise is less likely to be kept than it was made.
func endangered(r api.Reservation) bool {
	if r.FinishBy != 0 {
		return open(r) && r.Job != 0 && (r.Obstacle != "" || r.Now != 0 && r.Now < r.Prob)
	}
	return r.State == api.StatePending && (r.Rescue != nil || r.Obstacle != "" || r.Now != 0 && r.Now < r.Prob)
}

// next returns a hint for the user at the time now, or "" if there is none.
func next(r api.Reservation, now int64) string {
	switch {
	case r.State == api.StatePromised:
		return "nothing has been submitted under this plan yet"
	case endangered(r) && r.FinishBy != 0 && r.Later != 0:
		return fmt.Sprintf("endangered; if that is too late, 'scancel %d' withdraws it, and 'varq quote' says what a smaller or shorter job can be promised", r.Job)
	case endangered(r) && r.FinishBy != 0:
		return fmt.Sprintf("endangered; unless that changes, the job does not end by the deadline: 'scancel %d' withdraws it", r.Job)
	case r.Rescue != nil:
		return fmt.Sprintf("endangered; if idle nodes may cost up to %s, the probability is %s: 'varq accept %d' agrees to that",
			r.Rescue.Worst.RoundedUp(), prob.Format(r.Rescue.Prob), r.Job)
	case endangered(r) && r.Yielded:
		return "less likely than promised by now; varqd leaves the job alone, which somebody has changed"
	case r.Obstacle != "":
		return fmt.Sprintf("endangered; unless that changes, the job does not start by the deadline: ask the operators, or withdraw it ('scancel %d') "+
			"and ask for what 'varq limits' and 'varq quote' say is possible", r.Job)
	case endangered(r) && r.Set.BeginTime <= now:
		return "less likely than promised by now; the job waits for its nodes already, and cannot be moved any more"
	case endangered(r):
		return "less likely than promised by now; varqd moves the job as far as your ceiling on the cost of idle nodes allows"
	case r.State == api.StateMissed && r.Start == 0 && r.End == 0:
		return fmt.Sprintf("the job still waits; 'scancel %d' withdraws it", r.Job)
	default:
		return ""
	}
}
