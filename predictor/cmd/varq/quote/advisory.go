package quote

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// errNobodyPromises is the error of a quote where there is no varqd.
var errNobodyPromises = errors.New("this cluster has no varqd, and only varqd makes promises: 'varq quote --advisory' tells what is likely without one")

// advisable makes of a request what a job can have that nobody looks after: it starts as soon as it
// can. The error names an option that needs varqd.
func advisable(r *api.PlanRequest) error {
	switch {
	case r.OnMiss != "":
		return errors.New("--on-miss: with --advisory nobody looks after the job; leave it out")
	case r.MaxCost != (api.MaxCost{}):
		return errors.New("--max-cost: with --advisory no nodes idle; leave it out")
	case r.BeginAfter != 0:
		return errors.New("--begin-after: with --advisory nobody holds the work; leave it out, and submit with sbatch --begin")
	}
	r.BestEffort, r.Advisory = !r.Finishes(), true
	return nil
}

// likely puts what a refusal says of promises into words about what is likely.
var likely = strings.NewReplacer(
	" can be promised with probability ", " has a probability of ", "not even a probability of 0.01 can be promised for ", "there is not even a probability of 0.01 of ",
	trajectory.NoOffer, "",
)

// showAdvice shows what is likely of a job with these options of sbatch.
func showAdvice(env *cli.Env, asked *api.PlanRequest, answer *api.PlanAnswer, job []string) error {
	s := cli.Listing{Width: 12}
	switch p, no := answer.Plan, answer.Refusal; {
	case p != nil:
		what, by := "running", p.BeginBy
		if p.FinishBy != 0 {
			what, by = "finished", p.FinishBy
		}
		fmt.Fprintf(&s, "Likely: %s%s by %s with probability %s, if it is submitted %s.\n\n", p.Subject(), what, env.Moment(by), prob.Format(p.Estimate), submitted(env, p))
		s.Line("Forecast", "from %s", told.Evidence(&p.Evidence, env.Now()))
		fmt.Fprintf(&s, "\nTo submit the job so:\n\n  sbatch %s job.sh\n", strings.Join(begun(env, p, job), " "))
		for i := range answer.Offers {
			tellOffer(env, &s, asked, &answer.Offers[i], job)
		}
	case no != nil:
		fmt.Fprintf(&s, "Not as likely as that: %s.\n", likely.Replace(told.Reason(answer, env.Now(), env.Zone)))
		for i := range no.Offers {
			tellOffer(env, &s, asked, &no.Offers[i], job)
		}
	default:
		return errors.New("the answer is neither a plan nor a refusal")
	}
	s.WriteString("\nThis is not a promise, and nobody looks after the job: ask again before you rely on it.\n")
	_, err := io.WriteString(env.Stdout, s.String())
	return err
}

// submitted says when the job of a plan is to be submitted, or to become eligible.
func submitted(env *cli.Env, p *api.Plan) string {
	if p.FinishBy != 0 || p.BeginTime <= env.Now() {
		return "now"
	}
	return "to begin no earlier than " + env.Moment(p.BeginTime)
}

// begun returns the options of a job with the begin time of its plan.
func begun(env *cli.Env, p *api.Plan, job []string) []string {
	if p.FinishBy != 0 || p.BeginTime <= env.Now() {
		return job
	}
	return told.Override(job, []string{"--begin=" + slurmtime.Format(p.BeginTime, env.Zone)})
}

// tellOffer tells what is likely instead. An offer that needs varqd is left out.
func tellOffer(env *cli.Env, s *cli.Listing, asked *api.PlanRequest, o *api.Offer, job []string) {
	switch o.Kind {
	case api.OfferNodes, api.OfferTime:
		options := strings.Join(told.Override(job, o.Options(asked, env.Zone)), " ")
		fmt.Fprintf(s, "\n%s: %s with probability %s\n\n  sbatch %s job.sh\n", told.Offer(o), until(env, o), prob.Format(o.Prob), options)
	case api.OfferProb, api.OfferLater, api.OfferEnd:
		fmt.Fprintf(s, "\nThe same job: %s with probability %s\n", until(env, o), prob.Format(o.Prob))
	}
}

// until says by when something has happened to the job of an offer.
func until(env *cli.Env, o *api.Offer) string {
	if o.FinishBy != 0 {
		return "finished by " + env.Moment(o.FinishBy)
	}
	return "running by " + env.Moment(o.BeginBy)
}
