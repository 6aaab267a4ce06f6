package quote

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
)

// showEnd shows the plan for a request about a job's end, and the other deadlines that can be
// promised.
func showEnd(env *cli.Env, asked *api.PlanRequest, answer *api.PlanAnswer, options []string) error {
	p := answer.Plan
	s := cli.Listing{Width: 12}
	fmt.Fprintf(&s, "Can be promised: %sfinished by %s with probability %s (estimate %s).\n\n",
		p.Subject(), env.Moment(p.FinishBy), prob.Format(p.Prob), prob.Format(p.Estimate))
	for _, line := range told.End(p, env.Now(), env.Zone) {
		s.Line(line.Name, "%s", line.Text)
	}
	s.WriteString(awaits(env, answer))
	fmt.Fprintf(&s, "\nTo make this reservation:\n\n  sbatch %s job.sh\n", strings.Join(options, " "))
	s.WriteString(ends(env, asked, answer.Offers, options))
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}

// endConditions are on what offers of an end rest, for those that change more than the deadline.
var endConditions = map[string]string{
	api.OfferTime:  "   (if its work is done by then)",
	api.OfferSaves: "   (if it goes on from them when a node fails)",
}

// ends lists what can be promised instead, each with its number.
func ends(env *cli.Env, asked *api.PlanRequest, offers []api.Offer, options []string) string {
	if len(offers) == 0 {
		return ""
	}
	var s strings.Builder
	s.WriteString("\nPossible instead for a minute, each with its deadline and its probability:\n\n")
	for i := range offers {
		o := &offers[i]
		fmt.Fprintf(&s, "  %d  %s  %-5s  sbatch %s job.sh%s\n", i+1, env.Moment(o.FinishBy), prob.Format(o.Prob), offered(env, asked, o, options), endConditions[o.Kind])
	}
	return s.String()
}

// offered returns the options of sbatch for an offer, instead of those asked for.
func offered(env *cli.Env, asked *api.PlanRequest, o *api.Offer, options []string) string {
	var without []string
	for _, option := range options {
		if !strings.HasPrefix(option, "--risk=") {
			without = append(without, option)
		}
	}
	return strings.Join(told.Override(without, o.Options(asked, env.Zone)), " ")
}

// chooseEnd lets the user of a terminal choose one of the offers, and shows how to have it
// promised. A choice that is none of them is an error of the command line.
func chooseEnd(env *cli.Env, asked *api.PlanRequest, offers []api.Offer, options []string) error {
	if len(offers) == 0 || !env.Terminal || !cli.IsTerminal(env.Stdin) {
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nWhich one (1 to %d, or Enter for none)? ", len(offers))
	const mostTyped = 64
	line, _ := bufio.NewReader(io.LimitReader(env.Stdin, mostTyped)).ReadString('\n')
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(offers) {
		return cli.UsageError{Command: "varq quote", Err: fmt.Errorf("%.20q is none of the numbers from 1 to %d; nothing is chosen", line, len(offers))}
	}
	_, err = fmt.Fprintf(env.Stdout, "\n  sbatch %s job.sh\n", offered(env, asked, &offers[n-1], options))
	return err
}
