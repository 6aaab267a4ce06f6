// Package told describes reservations and offers in words. The commands of varq and its web pages
// use the same words.
package told

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Line is one line of a story. The Name of a line that belongs to the one before is empty.
type Line struct{ Name, Text string }

// Story tells of a reservation, at the time now and with times in zone, what was promised and what
// has happened. group is the one of which it is a member, as far as its home answers.
func Story(r *api.Reservation, group *api.GroupState, now int64, zone *time.Location) []Line {
	var story []Line
	line := func(name, format string, args ...any) {
		story = append(story, Line{name, fmt.Sprintf(format, args...)})
	}
	moment := func(at int64) string { return cli.Moment(at, zone) }
	what := "running"
	if r.FinishBy != 0 {
		what = "finished"
	}
	promised := fmt.Sprintf("on %s: %s by %s", moment(r.Promised), what, moment(r.Deadline()))
	if r.Group == "" {
		line("Promised", "%s with probability %s (estimate %s)", promised, prob.Format(r.Prob), prob.Format(r.Estimate))
	} else {
		line("Promised", "%s; %s", promised, together(group))
	}
	switch {
	case Open(r) && r.Group != "" && r.State == api.StateHolding:
		line("Now", "it has its nodes; its group decides whether its work begins")
	case Open(r):
		text := "not forecast"
		if r.Now != nil {
			text = "probability " + prob.Format(*r.Now)
		}
		if r.Obstacle != "" {
			text += ": " + slurmtime.InZone(r.Obstacle, zone)
		}
		line("Now", "%s", text)
	}
	if r.Later != 0 {
		line("Later", "by %s it ends with probability %s", moment(r.Later), prob.Format(r.Prob))
	}
	if r.Group != "" {
		keeper := "this cluster"
		if r.Home != "" {
			keeper = "cluster " + r.Home
		}
		line("Group", "%s, kept by %s: %s", r.Group, keeper, company(group, r.ID))
	}
	if r.Tasks != 0 {
		together := " at the same time"
		if r.FinishBy != 0 {
			together = ""
		}
		started, have := min(r.Started, r.Tasks), "have"
		if started == 1 {
			have = "has"
		}
		line("Array", "%s%s, of which %d %s started", r.OfArray(), together, started, have)
	}
	line("Asks for", "%s, %s for %s, in all %s", askedNodes(r), cli.Count(int(r.CPUs), "CPU", "CPUs"),
		slurmtime.FormatDuration(r.WorkLimit), slurmtime.FormatDuration(r.Set.TimeLimit))
	if eligible, _, _ := Times(r); eligible != 0 && eligible <= now {
		line("Eligible", "since %s", moment(eligible))
	} else {
		line("Eligible", "from %s", moment(eligible))
	}
	if r.HoldUntil != 0 {
		line("At most", "%s for idle nodes: %s", r.Ceiling.RoundedUp(), r.Ceiling.Share(r.Work))
	}
	if seconds := Held(r, now); r.FinishBy == 0 && (r.Start != 0 || seconds != 0) {
		since := "in runs before this one"
		if r.Start != 0 {
			since = "from " + moment(r.Start)
		}
		text := fmt.Sprintf("%s for %s: %s node-hours", since, slurmtime.FormatDuration(seconds), cli.NodeHours(float64(r.Has())*float64(seconds)))
		if r.Start != 0 && r.HeldBefore != 0 && r.Tasks == 0 {
			text += fmt.Sprintf(", %s of it before Slurm requeued the job", slurmtime.FormatDuration(r.HeldBefore))
		}
		line("Held", "%s", text)
	}
	switch {
	case r.WorkStart == 0:
	case r.FinishBy != 0:
		line("Work", "began %s", moment(r.WorkStart))
	case Again(r):
		line("Work", "began %s, %s, before the job was requeued", moment(r.WorkStart), against(r.WorkStart, r.BeginBy))
	default:
		line("Work", "began %s, %s", moment(r.WorkStart), against(r.WorkStart, r.BeginBy))
	}
	switch {
	case r.End == 0:
	case r.FinishBy != 0:
		line("Ended", "%s, %s", moment(r.End), against(r.End, r.FinishBy))
	default:
		line("Ended", "%s", moment(r.End))
	}
	if r.Note != "" {
		line("Note", "%s", slurmtime.InZone(r.Note, zone))
	}
	if hint := Next(r, now); hint != "" {
		line("Next", "%s", slurmtime.InZone(hint, zone))
	}
	for i, event := range r.Events {
		name := ""
		if i == 0 {
			name = "Events"
		}
		line(name, "%s %s: %s", moment(event.At), event.Kind, slurmtime.InZone(event.Text, zone))
	}
	return story
}

// askedNodes says how many nodes a job asks for, and was given.
func askedNodes(r *api.Reservation) string {
	nodes := cli.Count(int(r.Nodes), "node", "nodes")
	if r.Tasks != 0 {
		return "for each task " + nodes
	}
	switch most := r.MostNodes(); {
	case r.Allocated != 0 && r.Allocated != r.Nodes:
		return fmt.Sprintf("%s, was given %d", nodes, r.Allocated)
	case r.Allocated == 0 && most > r.Nodes:
		return fmt.Sprintf("%d to %d nodes", r.Nodes, most)
	}
	return nodes
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

// Next returns a hint for the user at the time now, or "" if there is none.
func Next(r *api.Reservation, now int64) string {
	switch {
	case r.Unused():
		return ""
	case r.State == api.StatePromised:
		return "nothing has been submitted under this plan yet"
	case Endangered(r) && r.FinishBy != 0 && r.Later != 0:
		return fmt.Sprintf("endangered; if that is too late, 'scancel %d' withdraws it, and 'varq quote' says what a smaller or shorter job can be promised", r.Job)
	case Endangered(r) && r.FinishBy != 0:
		return fmt.Sprintf("endangered%s; unless that changes, the job does not end by the deadline: 'scancel %d' withdraws it", so(r.Obstacle), r.Job)
	case r.Rescue != nil && r.Rescue.Worst.RoundedUp() == r.Ceiling.RoundedUp():
		return fmt.Sprintf("endangered; if idle nodes may cost %.0f node-seconds more than you have agreed to, the probability is %s: 'varq accept %d' agrees to that",
			r.Rescue.Worst.NodeSeconds-r.Ceiling.NodeSeconds, prob.Format(r.Rescue.Prob), r.Job)
	case r.Rescue != nil:
		return fmt.Sprintf("endangered; if idle nodes may cost up to %s, the probability is %s: 'varq accept %d' agrees to that",
			r.Rescue.Worst.RoundedUp(), prob.Format(r.Rescue.Prob), r.Job)
	case Endangered(r) && r.Yielded:
		return "less likely than promised by now; varqd leaves the job alone, which somebody has changed"
	case r.Obstacle != "":
		return fmt.Sprintf("endangered%s; unless that changes, the job does not start by the deadline: ask the operators, or withdraw it ('scancel %d') "+
			"and ask for what 'varq limits' and 'varq quote' say is possible", so(r.Obstacle), r.Job)
	case Endangered(r) && r.Set.BeginTime <= now:
		return "less likely than promised by now; the job waits for its nodes already, and cannot be moved any more"
	case Endangered(r):
		return fmt.Sprintf("less likely than promised by now, and more idle nodes would not help ('varq accept %d' tells why): "+
			"'scancel %[1]d' withdraws the job, and 'varq quote' says which later deadline can be promised", r.Job)
	case r.State == api.StateMissed && r.Start == 0 && r.End == 0:
		return fmt.Sprintf("the job still waits; 'scancel %d' withdraws it", r.Job)
	default:
		return ""
	}
}

// so adds the reason to what is said, if there is one.
func so(reason string) string {
	if reason == "" {
		return ""
	}
	return ", since " + reason
}
