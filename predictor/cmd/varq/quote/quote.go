// Package quote has the commands that tell beforehand: quote, which reservation a job would get,
// and predict, how long a job would wait.
package quote

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/plot"
)

// New returns the command quote.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quote --begin-by=TIME|--finish-by=TIME [options] [options of sbatch]",
		Short: "Show the reservation a job would get, without submitting it",
		Long: `Quote shows the reservation that a job would get: from when on Slurm may start the
job, how long its time limit would be, and what that costs. Nothing is submitted. If
nothing can be promised, quote says why and what can, ready to be pasted, and exits
with 1.

Give the options that sbatch will get: the size of the job, its time limit and its
choice of nodes count.

--finish-by asks about the end of the job instead. No nodes of such a job idle, so
that it costs nothing more. Quote lists other deadlines with their probabilities, and on
a terminal you may choose one. --risk alone asks for the earliest deadline that has a
probability.

--advisory tells what is likely of a job that starts as soon as it can, without a
promise. It works on any cluster of Slurm: where there is no varqd, use varq-alone.`,
		Example: `  varq quote -N4 -t 1:00:00 --begin-by=17:00
  varq quote -N1 -n16 --mem=32G -t 30 --begin-by=now+2hours --prob=0.95
  varq quote -p gpu --gpus=4 -t 2:00:00 --begin-by=17:00 --begin-after=16:30
  varq quote -N4 -t 1:00:00 --begin-by=17:00 --best-effort --json
  varq quote -c4 -t 30 --array=0-39%8 --begin-by=17:00
  varq quote -N4 -t 1:00:00 --finish-by=17:00 --prob=0.95
  varq quote -N4 -t 1:00:00 --risk=0.9
  varq quote -N4 -t 1:00:00 --begin-by=17:00 --plot=trajectory.svg
  varq quote -N4 -t 1:00:00 --begin-by=17:00 --advisory`,
		Args: cli.NoArguments,
	}
	cmd.Flags().SortFlags = false
	reservation := addReservation(cmd)
	job := options.AddJob(cmd, link.Cluster)
	job.AddOthers()
	job.AddPromised()
	advisory := cmd.Flags().Bool("advisory", false, "tell what is likely of the job without a promise")
	picture := cmd.Flags().String("plot", "", "draw probability against submission time into `FILE`.svg or .png")
	asJSON := options.AddJSON(cmd.Flags())
	_ = cmd.MarkFlagFilename("plot", "svg", "png")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		request, err := reservation.request(env)
		if err != nil {
			return usage(err)
		}
		if request.Job, err = job.Request(); err != nil {
			return usage(err)
		}
		if request.Needs, err = job.Needs(); err != nil {
			return usage(err)
		}
		if request.Array, request.Tasks, err = job.Array(); err != nil {
			return usage(err)
		}
		if request.Dependency, request.Name, err = job.Dependency(); err != nil {
			return usage(err)
		}
		if err := request.Check(); err != nil {
			return usage(api.ByOption(err, env.Moment))
		}
		request.Trajectory = *picture != ""
		if request.Trajectory && request.Finishes() {
			return usage(errors.New("--plot draws the probability of a start against the submission time; it goes with --begin-by"))
		}
		if request.Trajectory {
			if _, err := plot.Format(*picture); err != nil {
				return usage(fmt.Errorf("--plot: %w", err))
			}
		}
		if *advisory {
			if err := advisable(&request); err != nil {
				return usage(err)
			}
		} else if link.Own() {
			return errNobodyPromises
		}
		varqd, err := link.DialForecaster(cmd.Context(), env)
		if err != nil {
			return err
		}
		answer, err := varqd.Quote(cmd.Context(), request)
		if err != nil {
			return err
		}
		switch {
		case *asJSON:
			err = cli.WriteJSON(env.Stdout, answer)
		case *advisory:
			if err = showAdvice(env, &request, &answer, chosen(job.Given(), &answer)); err == nil {
				err = varqd.Caveat(cmd.Context(), env, 0)
			}
		default:
			err = showAnswer(env, request, answer, job.Given())
		}
		if err == nil && request.Trajectory {
			// Invariant: the answer is shown before. A picture that cannot be written takes nothing
			// away.
			err = draw(env, *picture, request, answer)
		}
		if err == nil && answer.Plan == nil {
			err = cli.ErrNo
		}
		return err
	}
	return cmd
}

// chosen returns the options of a job with the account and the QOS of an answer, where they name
// several. Without an answer about them, several accounts are named as sbatch takes them, by an
// option of varq's own.
func chosen(job []string, answer *api.PlanAnswer) []string {
	options := slices.Clone(job)
	if is := func(o string) bool { return strings.HasPrefix(o, "--accounts=") }; slices.ContainsFunc(options, is) {
		options = slices.DeleteFunc(options, func(o string) bool { return strings.HasPrefix(o, "--account=") })
	}
	for i, o := range options {
		name, list, _ := strings.Cut(o, "=")
		switch {
		case strings.TrimSuffix(name, "s") == "--account" && answer.Account != "":
			options[i] = "--account=" + answer.Account
		case name == "--account" && strings.Contains(list, ","):
			options[i] = "--accounts=" + list
		case name == "--qos" && answer.QOS != "":
			options[i] = "--qos=" + answer.QOS
		}
	}
	return options
}

// showAnswer shows a plan or a refusal, with the options to paste after sbatch. job has the
// job's options; showAnswer adds those of the reservation.
func showAnswer(env *cli.Env, request api.PlanRequest, answer api.PlanAnswer, job []string) error {
	job = chosen(job, &answer)
	switch {
	case answer.Plan != nil && answer.Plan.FinishBy != 0:
		request.FinishBy, request.Prob, request.Risk = answer.Plan.FinishBy, answer.Plan.Prob, 0
		options := slices.Concat(job, told.Options(&request, env.Zone))
		if err := showEnd(env, &request, &answer, options); err != nil {
			return err
		}
		return chooseEnd(env, &request, answer.Offers, options)
	case answer.Refusal != nil && request.Finishes():
		options := slices.Concat(job, told.Options(&request, env.Zone))
		if err := showRefusal(env, &request, &answer, options); err != nil {
			return err
		}
		return chooseEnd(env, &request, answer.Refusal.Offers, options)
	case answer.Plan != nil:
		request.Prob = answer.Plan.Prob // the site's default, if none was asked for
		return showPlan(env, &request, &answer, append(job, told.Options(&request, env.Zone)...))
	case answer.Refusal != nil:
		return showRefusal(env, &request, &answer, append(job, told.Options(&request, env.Zone)...))
	default:
		return errors.New("varqd's answer is neither a plan nor a refusal")
	}
}
