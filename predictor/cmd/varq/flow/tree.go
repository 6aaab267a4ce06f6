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

// empty says that there is no flow to show, and what to do.
func empty(old bool) string {
	if old {
		return "varq: no flow has been promised to you: 'varq flow JOBID... --finish-by=TIME' asks for one"
	}
	return "varq: no flow is promised to you now: --old shows those before, and 'varq flow JOBID... --finish-by=TIME' asks for one"
}
