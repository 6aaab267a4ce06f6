package quote

import (
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
)

// showPlan shows the plan for what was asked. options are the options of sbatch that ask for the
// reservation.
func showPlan(env *cli.Env, asked *api.PlanRequest, p *api.Plan, options []string) error {
	s := cli.Listing{Width: 12}
	fmt.Fprintf(&s, "Can be promised: %srunning by %s with probability %s (estimate %s).\n\n",
		p.Subject(), env.Moment(p.BeginBy), prob.Format(p.Prob), prob.Format(p.Estimate))
	for _, line := range told.Plan(p, asked, env.Now(), env.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	fmt.Fprintf(&s, "\nTo make this reservation:\n\n  sbatch %s job.sh\n", strings.Join(options, " "))
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}
