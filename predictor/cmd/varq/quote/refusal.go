package quote

import (
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
)

// showRefusal shows the reason of a refusal, and for each offer the options to paste after
// sbatch. options are those of the request.
func showRefusal(env *cli.Env, asked *api.PlanRequest, answer *api.PlanAnswer, options []string) error {
	var s strings.Builder
	r, reason := answer.Refusal, told.Reason(answer, env.Now(), env.Zone)
	fmt.Fprintf(&s, "Cannot be promised: %s.\n", reason)
	if by := asked.AskedFor(reason, env.Now(), env.Zone); by != "" {
		fmt.Fprintf(&s, "Asked for: %s.\n", by)
	}
	if r.Limit != "" {
		fmt.Fprintf(&s, "The limit that binds: %s.\n", r.Limit)
	}
	others := r.Offers
	if asked.Finishes() {
		s.WriteString(ends(env, asked, r.Offers, options))
		others = nil
	}
	if len(others) > 0 {
		s.WriteString("\nEach of these is promised as it stands here if you ask for it within a minute.\n")
	}
	for i := range others {
		o := &others[i]
		fmt.Fprintf(&s, "\n%s, for at most %s node-hours more:\n\n  sbatch %s job.sh\n",
			told.Offer(o), api.HoursUp(o.Worst.NodeSeconds), strings.Join(told.Override(options, o.Options(asked, env.Zone)), " "))
	}
	if kept := r.Kept(env.Zone); kept != "" {
		fmt.Fprintf(&s, "\n%s\n", kept)
	}
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}
