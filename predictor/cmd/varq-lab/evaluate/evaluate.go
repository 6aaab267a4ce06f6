// Package evaluate is the command that scores forecasts of waits on logs. Package backtest
// lets each method forecast the jobs of a log and scores the forecasts. The command shows
// the scores as tables, JSON and pictures.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// allMethods is the value of --methods for all methods.
const allMethods = "all"

// Bounds of the options.
const (
	mostListed    = 20              // items of a list
	longestBudget = 366 * 24 * 3600 // seconds
)

// evaluateFlags has the options of evaluate.
type evaluateFlags struct {
	traces, methods, quantiles, budgets, by []string
	completion                              bool
	pending                                 string
	flows                                   bool
	json                                    bool
	plot                                    string
}

// New returns the command evaluate.
func New(env *cli.Env) *cobra.Command {
	f := &evaluateFlags{}
	cmd := &cobra.Command{
		Use:   "evaluate --trace=FILE... [options]",
		Short: "Score forecasts of waits on a log",
		Long: `Evaluate lives through a log as it happened: whenever a job is submitted that is
going to start, each method forecasts how long it will wait, from what had happened
by then. The first tenth of the jobs is only learnt from. Neither varqd nor Slurm
takes part. 'varq-lab trace' makes a log of your cluster.

A quantile of the wait is scored by its coverage, the share of the jobs that did not
wait for longer, which ought to be the quantile; by its pinball loss, the less the
better; and by its width. The probability of a start within a budget of time is
scored by its Brier score, the less the better, and by its calibration error. The
median is also scored as one number, as such forecasts are published: how often it
was right within 1 and 10 minutes, and within a factor of two.
What the columns mean is told in varq-lab-evaluate(1).

Rolling and binomial are baselines: the quantiles of the last 300 waits, or of as
many as the name tells, and upper confidence bounds on those of all waits; of the
whole log, of the job's queue, or of the cell of the queue's jobs with about as many
nodes and as much requested time.

With --completion methods forecast when jobs will have ended, and are compared with
the same quantiles of the last 300 such times, and with what is got by adding a run
time to a forecast of the wait.

With --pending methods are asked, at a time of each day, how much longer the jobs
wait that wait then. The baselines forecast that from the past waits that were
longer than the job has waited already, and so does blend.

With --flows methods forecast when all jobs of a flow have ended, as of the submission
of the first. What users did makes flows: jobs that a user submitted within a minute
are a stage, and wait for all of the stage before if they came within ten minutes after
its end. What is compared is the time that the flow would have taken without the user's
pauses. Flow draws courses of all jobs together, and calibrated also learns from jobs
of flows when they start, as varqd does. Independent draws courses as if waits had
nothing in common, and sum adds the quantiles of the jobs.`,
		Example: `  varq-lab evaluate --trace=log.swf.gz
  varq-lab evaluate --trace=log.swf --methods=qbets,rolling-cell --by=queue,size
  varq-lab evaluate --trace=log.swf.gz --completion
  varq-lab evaluate --trace=log.swf.gz --pending=12:00
  varq-lab evaluate --trace=log.swf.gz --flows
  varq-lab evaluate --trace=log.swf --quantiles=.9 --budgets=1h,1-0 --plot=pictures --json`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.traces, "trace", nil, "a log in the Standard Workload Format: `FILE`.swf or .swf.gz; several may follow")
	flags.BoolVar(&f.completion, "completion", false, "score forecasts of when jobs end, not of when they start")
	flags.StringVar(&f.pending, "pending", "", "score forecasts of how much longer the jobs wait that wait at this `HH:MM` (UTC) of each day")
	flags.BoolVar(&f.flows, "flows", false, "score forecasts of when all jobs of a user's flow have ended: of her jobs, each soon after others had ended")
	flags.StringSliceVar(&f.methods, "methods", []string{allMethods}, "the `methods` to score: all, or of "+strings.Join(names(backtest.Methods), ", ")+"; with --completion of "+strings.Join(names(backtest.Completions), ", ")+"; with --pending of "+strings.Join(names(backtest.Pendings), ", ")+"; with --flows of "+strings.Join(names(backtest.Flows), ", "))
	flags.StringSliceVar(&f.quantiles, "quantiles", []string{".5", ".75", ".9", ".95"}, "the `quantiles` to score")
	flags.StringSliceVar(&f.budgets, "budgets", []string{"5m", "30m", "1h", "2h", "6h", "12h", "24h"}, "the `times` within which a start is to be forecast")
	flags.StringSliceVar(&f.by, "by", nil, "score `parts` of the log too, apart by "+strings.Join(splitNames(), ", "))
	flags.BoolVar(&f.json, "json", false, "show the scores in JSON: times and durations in seconds")
	flags.StringVar(&f.plot, "plot", "", "draw reliability, coverage by month and pinball loss into the folder `DIR`")
	_ = cmd.MarkFlagFilename("trace", "swf", "gz")
	_ = cmd.MarkFlagDirname("plot")
	_ = cmd.RegisterFlagCompletionFunc("methods", cli.CompleteList(append([]string{allMethods}, append(names(backtest.Methods), names(backtest.Completions)...)...)))
	_ = cmd.RegisterFlagCompletionFunc("by", cli.CompleteList(splitNames()))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"swf", "gz"}, cobra.ShellCompDirectiveFilterFileExt
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := f.evaluation(args)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		return e.run(cmd.Context(), env, f)
	}
	return cmd
}

func names(makers []backtest.Maker) []string {
	return cli.Names(makers, func(m backtest.Maker) string { return m.Name })
}

func splitNames() []string {
	return cli.Names(backtest.Splits, func(s backtest.Split) string { return s.Name })
}

// evaluation is what to score, and on which logs.
type evaluation struct {
	paths   []string
	makers  []backtest.Maker
	budgets []string // as the user wrote them
	options backtest.Options
}

// evaluation checks the flags and returns the evaluation that they describe. args are
// further logs.
func (f *evaluateFlags) evaluation(args []string) (*evaluation, error) {
	if len(f.traces) == 0 {
		return nil, errors.New("nothing to evaluate on: give a log by --trace=FILE")
	}
	e := &evaluation{paths: append(f.traces, args...), budgets: f.budgets}
	var err error
	makers := backtest.Methods
	if e.options.Completion = f.completion; f.completion {
		makers = backtest.Completions
	}
	if f.pending != "" {
		at, err := time.Parse("15:04", f.pending)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--pending: %.40q is not a time of day, such as 12:00", f.pending)
		case f.completion:
			return nil, errors.New("--pending does not go together with --completion")
		}
		seconds := int64(at.Hour()*3600 + at.Minute()*60)
		e.options.Pending, makers = &seconds, backtest.Pendings
	}
	if f.flows {
		if f.completion || f.pending != "" {
			return nil, errors.New("--flows goes together with neither --completion nor --pending")
		}
		e.options.Flows, makers = true, backtest.Flows
	}
	if slices.Equal(f.methods, []string{allMethods}) {
		e.makers = makers
	} else if e.makers, err = chosen("methods", f.methods, makers, func(m backtest.Maker) string { return m.Name }); err != nil {
		return nil, err
	}
	if e.options.By, err = chosen("by", f.by, backtest.Splits, func(s backtest.Split) string { return s.Name }); err != nil {
		return nil, err
	}
	if e.options.Quantiles, err = list("quantiles", f.quantiles, prob.Parse); err != nil {
		return nil, err
	}
	if e.options.Budgets, err = list("budgets", f.budgets, parseBudget); err != nil {
		return nil, err
	}
	return e, nil
}

// chosen returns the elements of all with these names, in the order of names.
func chosen[T any](flag string, names []string, all []T, name func(T) string) ([]T, error) {
	var some []T
	for i, text := range names {
		v, err := cli.Choose(flag, text, all, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], text) {
			return nil, fmt.Errorf("--%s: %s is there twice", flag, text)
		}
		some = append(some, v)
	}
	return some, nil
}

// list parses a list of numbers, all of which must differ.
func list[T comparable](flag string, texts []string, parse func(string) (T, error)) ([]T, error) {
	if len(texts) == 0 || len(texts) > mostListed {
		return nil, fmt.Errorf("--%s: %d of them are not between 1 and %d", flag, len(texts), mostListed)
	}
	var some []T
	for _, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		if slices.Contains(some, v) {
			return nil, fmt.Errorf("--%s: %s is there twice", flag, text)
		}
		some = append(some, v)
	}
	return some, nil
}

func parseBudget(text string) (int64, error) {
	seconds, err := slurmtime.ParseSpan(text)
	if err == nil && (seconds < 1 || seconds > longestBudget) {
		err = fmt.Errorf("%.40q is not between a second and a year", text)
	}
	return seconds, err
}

// run scores the methods and shows the scores.
func (e *evaluation) run(ctx context.Context, env *cli.Env, f *evaluateFlags) error {
	if f.plot != "" {
		if err := os.MkdirAll(f.plot, 0o777); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	logs, err := e.runAll(ctx, env)
	if err != nil {
		return err
	}
	scores := newEvaluated(logs)
	scores.Seconds = env.Elapsed().Seconds()
	if f.json {
		err = cli.WriteJSON(env.Stdout, scores)
	} else {
		err = scores.show(env.Stdout, e.budgets)
	}
	if err != nil || f.plot == "" {
		return err
	}
	return drawScores(env.Stderr, f.plot, logs)
}
