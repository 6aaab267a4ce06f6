package quote

import (
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// showPlan shows the plan for what was asked. options are the options of sbatch that ask for the
// reservation.
func showPlan(env *cli.Env, asked *api.PlanRequest, answer *api.PlanAnswer, options []string) error {
	p := answer.Plan
	s := cli.Listing{Width: 12}
	fmt.Fprintf(&s, "Can be promised: %srunning by %s with probability %s (estimate %s).\n\n",
		p.Subject(), env.Moment(p.BeginBy), prob.Format(p.Prob), prob.Format(p.Estimate))
	for _, line := range told.Plan(p, asked, env.Now(), env.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	s.WriteString(awaits(env, answer))
	fmt.Fprintf(&s, "\nTo make this reservation:\n\n  sbatch %s job.sh\n", strings.Join(options, " "))
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}

// awaits tells how long a job waits for others, or nothing.
func awaits(env *cli.Env, answer *api.PlanAnswer) string {
	s := cli.Listing{Width: 12}
	if waits := answer.Awaits(env.Zone); waits != "" {
		s.Line("After others", "%s", slurmtime.InZone(waits, env.Zone))
	}
	return s.String()
}
