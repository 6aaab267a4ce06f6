package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// showPlan shows the plan for what was asked. options are the options of sbatch that ask for the reservation.
func (e *Env) showPlan(asked *api.PlanRequest, p *api.Plan, options []string) error {
	s := cli.Listing{Width: 12}
	fmt.Fprintf(&s, "Can be promised: running by %s with probability %s (forecast %s).\n\n",
		e.moment(p.BeginBy), prob.Format(p.Prob), prob.Format(p.Estimate))
	s.Line("Eligible", "%s, %s from now", e.moment(p.BeginTime), slurmtime.FormatDuration(max(0, p.BeginTime-e.Now())))
	s.Line("Time limit", "%s, of which %s for the work", slurmtime.FormatDuration(p.TimeLimit), slurmtime.FormatDuration(p.WorkLimit))
	switch p.HoldUntil {
	case 0:
		s.Line("Work starts", "as soon as the job does")
	case p.BeginBy:
		s.Line("Work starts", "at the deadline")
	default:
		s.Line("Work starts", "from %s on", e.moment(p.HoldUntil))
	}
	if p.OnMiss == api.OnMissCancel {
		s.Line("If missed", "the job is cancelled")
	} else {
		s.Line("If missed", "the job runs as soon as it can")
	}
	s.Line("Work costs", "%s", p.Work)
	s.Line("At most", "%s more: %s", p.AtMost().RoundedUp(), p.AtMost().Share(p.Work))
	s.Line("Expected", "%s more", p.Expected)
	if spread := p.Spread(asked); spread != "" {
		s.Line("Nodes", "%s", spread)
	}
	if left := p.LeavesOut(); left != "" {
		s.Line("Nodes", "%s", left)
	}
	s.Line("Forecast", "from %s", evidence(p.Evidence))
	fmt.Fprintf(&s, "\nTo make this reservation:\n\n  sbatch %s job.sh\n", strings.Join(options, " "))
	_, err := io.WriteString(e.Stdout, s.String())
	return err
}
