package flow

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
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
		fmt.Fprintln(env.Stderr, empty(q.Old))
		return nil
	}
	var s strings.Builder
	for i := range answer.Flows {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(told.FlowTree(&answer.Flows[i], env.Zone))
	}
	_, err = io.WriteString(env.Stdout, s.String())
	return err
}

// story tells of one flow that was promised, and what has happened to the promise.
func story(ctx context.Context, env *cli.Env, link *link.Link, id string, style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	answer, err := varqd.Flows(ctx, api.FlowsQuery{Old: true})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(answer.Flows, func(f api.FlowPromise) bool { return f.ID == id })
	switch {
	case i < 0:
		fmt.Fprintf(env.Stderr, "varq: no flow %s was promised to you: 'varq flow --old' lists all\n", id)
		return cli.ErrNo
	case style.JSON:
		return cli.WriteJSON(env.Stdout, answer.Flows[i])
	}
	_, err = io.WriteString(env.Stdout, told.FlowStory(&answer.Flows[i], env.Zone))
	return err
}

// empty says that there is no flow to show, and what to do.
func empty(old bool) string {
	if old {
		return "varq: no flow has been promised to you: 'varq flow JOBID... --finish-by=TIME' asks for one"
	}
	return "varq: no flow is promised to you now: --old shows those before, and 'varq flow JOBID... --finish-by=TIME' asks for one"
}
