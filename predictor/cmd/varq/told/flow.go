package told

import (
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// FlowTree tells in lines what was promised of a flow, and then of its jobs that are in the queue,
// as a tree: each under the one for which it waits longest.
func FlowTree(f *api.FlowPromise, zone *time.Location) string {
	var w strings.Builder
	called := f.ID
	if f.Name != "" {
		called = fmt.Sprintf("%q (%s)", f.Name, f.ID)
	}
	now := "nothing is forecast"
	switch {
	case f.State != api.StatePending && f.Note != "":
		now = f.State + ": " + f.Note
	case f.State != api.StatePending:
		now = f.State
	case f.Now != nil:
		now = prob.Format(*f.Now) + " now"
	}
	line := func(format string, args ...any) { fmt.Fprintln(&w, cli.Printable(fmt.Sprintf(format, args...))) }
	line("flow %s of %s: %s to have ended by %s with probability %s; %s", called, f.User, cli.Count(len(f.Jobs), "job", "jobs"), slurmtime.Format(f.FinishBy, zone), prob.Format(f.Prob), now)
	if f.Flow == nil {
		return w.String()
	}
	if f.Flow.Engines != "" {
		fmt.Fprintf(&w, "  of a run of %s: jobs that it has submitted since are not promised\n", f.Flow.Engines)
	}
	if f.Flow.Learning {
		w.WriteString("  forecasts rest on the newest part of the past, and may be otherwise in some minutes\n")
	}
	jobs := f.Flow.Jobs
	under, has := map[int64][]int{}, map[int64]bool{}
	for i := range jobs {
		// of those that it waits for, it is told under the one that ends last
		var last, end int64
		for _, a := range jobs[i].After {
			if has[a.Job] && a.By != nil && a.By.Median >= end {
				last, end = a.Job, a.By.Median
			}
		}
		under[last] = append(under[last], i)
		has[jobs[i].Job] = true
	}
	var branch func(i int, before, here string)
	branch = func(i int, before, here string) {
		j := &jobs[i]
		line("%s%s%s %s: %s", before, here, JobID(j.Job, j.Array, j.Tasks), j.Name, flowState(j, zone))
		children := under[j.Job]
		inner := before
		if here != "" {
			inner += map[bool]string{true: "   ", false: "│  "}[strings.HasPrefix(here, "└")]
		}
		for n, child := range children {
			mark := "├─ "
			if n == len(children)-1 {
				mark = "└─ "
			}
			branch(child, inner, mark)
		}
	}
	for _, i := range under[0] {
		branch(i, "  ", "")
	}
	return w.String()
}

// FlowStory returns the tree of a flow, and a line for all that has happened to its promise, with
// times in zone.
func FlowStory(f *api.FlowPromise, zone *time.Location) string {
	var w strings.Builder
	w.WriteString(FlowTree(f, zone))
	for _, event := range f.Events {
		fmt.Fprintln(&w, cli.Printable(fmt.Sprintf("  %s %s: %s", slurmtime.Format(event.At, zone), event.Kind, slurmtime.InZone(event.Text, zone))))
	}
	return w.String()
}

// flowState says what a job of a flow does, and when it is likely to have ended.
func flowState(j *api.FlowJob, zone *time.Location) string {
	does := "waits"
	if j.Runs {
		does = "runs"
	}
	switch {
	case j.Unknown != "":
		return does + "; " + j.Unknown
	case j.End == nil || j.End.Median == 0:
		return does
	}
	text := fmt.Sprintf("%s, and has ended as likely as not by %s", does, cli.Moment(j.End.Median, zone))
	if j.Critical >= .5 {
		text += "; critical"
	}
	return text
}
