package flow

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// show lists the flows that were promised, each as a tree of its jobs that are in the queue.
func show(ctx context.Context, env *cli.Env, link *link.Link, q api.FlowsQuery, style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	answer, err := varqd.Flows(ctx, q)
	switch {
	case err != nil:
		return err
	case style.JSON:
		return cli.WriteJSON(env.Stdout, answer)
	case len(answer.Flows) == 0:
		fmt.Fprintln(env.Stderr, "varq: no flow is promised to you: 'varq flow JOBID... --finish-by=TIME' asks for one")
		return nil
	}
	var s strings.Builder
	for i := range answer.Flows {
		if i > 0 {
			s.WriteByte('\n')
		}
		Tree(&s, env, &answer.Flows[i])
	}
	_, err = io.WriteString(env.Stdout, s.String())
	return err
}

// Tree writes what was promised of a flow, and its jobs as a tree.
func Tree(w *strings.Builder, env *cli.Env, f *api.FlowPromise) {
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
	fmt.Fprintf(w, "flow %s of %s: %s to have ended by %s with probability %s; %s\n", called, f.User, cli.Count(len(f.Jobs), "job", "jobs"), slurmtime.Format(f.FinishBy, env.Zone), prob.Format(f.Prob), now)
	if f.Flow == nil {
		return
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
		fmt.Fprintf(w, "%s%s%s %s: %s\n", before, here, told.JobID(&api.Waiting{Job: j.Job, Array: j.Array, Tasks: j.Tasks}), j.Name, state(env, j))
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
}

// state says what a job of a flow does, and when it is likely to have ended.
func state(env *cli.Env, j *api.FlowJob) string {
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
	text := fmt.Sprintf("%s, and has ended as likely as not by %s", does, env.Moment(j.End.Median))
	if j.Critical >= .5 {
		text += "; critical"
	}
	return text
}
