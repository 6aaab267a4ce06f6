package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// sizeFlags has the options of size but those of the job.
type sizeFlags struct {
	shapes            shapeFlags
	by, forecaster    string
	finishBy, beginBy string
	aversion          float64
	plot              string
	options           bool
}

func newSize(env *Env, link *link) *cobra.Command {
	f := &sizeFlags{}
	cmd := &cobra.Command{
		Use:   "size --sizes=NODES:TIME,...|--speedup=CURVE|--fit=JOBNAME [options] [options of sbatch]",
		Short: "Tell on how many nodes a job had better run",
		Long: `Size tells on how many nodes a job had better run if it is submitted now: more
nodes run it faster, and are waited for longer. It asks varqd how long the job
would wait at each size, adds the run time, and shows which size is best: the one
with the least expected time until the end, unless --by says otherwise, with the
options to paste after sbatch.

The run times come from --sizes, which has a time for each number of nodes; or
from --time, the time on --ref-nodes nodes, and the program's --speedup; or, with
--fit, from sacct: your own jobs of that name that completed. The sizes are then
those of --nodes, or those that were run and up to twice as large.

sbatch --size=auto --sizes=... chooses in the same way, and takes --risk-aversion
too. That locks the size in; with --lock-in=no varqd asks again as long as the job
waits, and gives it another size if it is then expected to end sooner.`,
		Example: `  varq size --sizes=4:2h,8:1h10m,16:45m
  varq size -N2-32 -t 2:00:00 --ref-nodes=8 --speedup=amdahl:0.01
  varq size -N2,4,8,16 -t 2:00:00 --ref-nodes=8 --speedup=downey:64,0.5 --by=cost
  varq size --sizes=4:2h,8:1h10m,16:45m --finish-by=17:00
  varq size --fit=cfd -p batch --risk-aversion=0.2 --forecaster=downey
  varq size --fit=cfd --plot=size.svg
  varq size --sizes=4:2h,8:1h10m,16:45m --options`,
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.shapes.add(flags)
	flags.StringVar(&f.by, "by", "", "what is best: the least expected `turnaround`, the least cost, or the highest prob")
	flags.StringVar(&f.finishBy, "finish-by", "", "show how probable it is that the job has ended by this `time`")
	flags.StringVar(&f.beginBy, "begin-by", "", "show how probable it is that the job is running by this `time`")
	flags.Float64Var(&f.aversion, "risk-aversion", 0, "wait for more nodes only if that is expected to save this `share` of the run time on those that start first")
	flags.StringVar(&f.forecaster, "forecaster", sizeForecasters[0], "whose forecast of the wait to go by: `varq` or downey, which has Downey's predictors with their bias corrected")
	flags.StringVar(&f.plot, "plot", "", "draw wait, run time and turnaround against nodes into `FILE`.svg or .png")
	_ = cmd.MarkFlagFilename("plot", "svg", "png")
	flags.BoolVar(&f.options, "options", false, "print only the options of the best size, for sbatch $(varq size ...) job.sh")
	asJSON := addJSON(flags)
	job := addJob(flags, link)
	job.addNeeds(flags)
	criteria := cli.Names(moldable.Criteria, func(c moldable.Criterion) string { return string(c) })
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(criteria, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("forecaster", cobra.FixedCompletions(sizeForecasters, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		asked, err := f.question(env, *asJSON)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		shapes, err := f.shapes.shapes(cmd.Context(), env, link, job)
		if err != nil {
			return err
		}
		varqd, err := link.dial()
		if err != nil {
			return err
		}
		answer, err := asked.answer(cmd.Context(), varqd, job, shapes)
		if err != nil {
			return err
		}
		switch {
		case *asJSON:
			err = cli.WriteJSON(env.Stdout, answer)
		case f.options:
			err = env.showOptions(answer)
		default:
			err = env.showSizes(answer, shapes.past, job)
		}
		if err == nil && f.plot != "" {
			err = env.drawSizes(f.plot, answer, shapes.past)
		}
		if err == nil && answer.Best == 0 {
			err = errNo
		}
		return err
	}
	return cmd
}

// sizeQuestion is what makes a size the best.
type sizeQuestion struct {
	rules moldable.Rules
	// within is how many seconds from now the deadline is, 0 without one; starts says that it is
	// one for the start.
	within int64
	starts bool
	// forecaster is of a PredictRequest.
	forecaster string
}

// sizeForecasters are the values of --forecaster; the first is varqd's own.
var sizeForecasters = []string{"varq", api.ForecasterDowney}

// question returns what the options ask. An error is one of the command line.
func (f *sizeFlags) question(env *Env, asJSON bool) (sizeQuestion, error) {
	q := sizeQuestion{rules: moldable.Rules{By: moldable.Least, Aversion: f.aversion}}
	var err error
	if f.by != "" {
		if q.rules.By, err = cli.Choose("by", f.by, moldable.Criteria, func(c moldable.Criterion) string { return string(c) }); err != nil {
			return q, err
		}
	}
	deadline, option, text := int64(0), "--finish-by", f.finishBy
	if f.beginBy != "" {
		option, text, q.starts = "--begin-by", f.beginBy, true
	}
	if deadline, err = env.Time(option, text); err != nil {
		return q, err
	}
	switch {
	case f.beginBy != "" && f.finishBy != "":
		return q, errors.New("--begin-by and --finish-by exclude each other: which of them is the job to meet?")
	case text != "" && deadline <= env.Now():
		return q, fmt.Errorf("%s: %s has passed", option, env.Moment(deadline))
	case text != "":
		q.within = deadline - env.Now()
		if f.by == "" {
			q.rules.By = moldable.Highest
		}
	case q.rules.By == moldable.Highest:
		return q, errors.New("--by=prob needs a deadline: --finish-by=TIME, or --begin-by=TIME")
	}
	switch {
	case !(f.aversion >= 0 && f.aversion <= api.MaxAversion):
		return q, fmt.Errorf("--risk-aversion: %v is not a share of the run time, from 0 to %d", f.aversion, api.MaxAversion)
	case f.aversion > 0 && q.rules.By != moldable.Least:
		return q, errors.New("--risk-aversion is about the turnaround, and about nothing else")
	}
	switch {
	case !slices.Contains(sizeForecasters, f.forecaster):
		return q, fmt.Errorf("--forecaster: %.40q is none of %s", f.forecaster, strings.Join(sizeForecasters, ", "))
	case f.forecaster != sizeForecasters[0]:
		q.forecaster = f.forecaster
	}
	if f.options && asJSON {
		return q, errors.New("--options and --json exclude each other")
	}
	if f.plot != "" {
		if _, err := plot.Format(f.plot); err != nil {
			return q, fmt.Errorf("--plot: %w", err)
		}
	}
	return q, nil
}

// sizeAnswer is what is known of all sizes.
type sizeAnswer struct {
	By    moldable.Criterion `json:"by"`
	Best  int32              `json:"best,omitempty"` // its nodes; 0 if no wait can be forecast
	Sizes []sizeRow          `json:"sizes"`
	// Refused are the sizes that the cluster cannot have.
	Refused []sizeRefusal `json:"refused,omitempty"`
	api.Evidence
}

// sizeRow is a size. Times are seconds from now on; nil where too little is known.
type sizeRow struct {
	Nodes    int32    `json:"nodes"`
	Limit    int64    `json:"limit"`     // the time limit, seconds
	Median   *float64 `json:"median"`    // of the wait
	Ninety   *float64 `json:"ninety"`    // the .9 quantile of the wait
	Wait     *float64 `json:"wait"`      // expected: see moldable.Wait
	Run      float64  `json:"run"`       // expected
	RunLow   float64  `json:"run_low"`   // the interval of the median run time, if it was fitted
	RunHigh  float64  `json:"run_high"`  //
	Ends     *float64 `json:"ends"`      // expected turnaround
	Prob     *float64 `json:"prob"`      // of meeting the deadline, if there is one
	NodeTime float64  `json:"node_time"` // node-seconds of the run
}

type sizeRefusal struct {
	Nodes int32  `json:"nodes"`
	Why   string `json:"why"`
}

// answer asks varqd about each shape. Sizes that varqd refuses are not an error, unless it refuses
// all.
func (q *sizeQuestion) answer(ctx context.Context, varqd *client.Client, job *jobFlags, all shapes) (sizeAnswer, error) {
	a := sizeAnswer{By: q.rules.By, Sizes: []sizeRow{}}
	var options []moldable.Option
	var refusal error
	for _, s := range all.list {
		request, err := job.ofShape(s)
		if err != nil {
			return a, err
		}
		request.Quantiles, request.Forecaster = moldable.Quantiles(), q.forecaster
		prediction, err := varqd.Predict(ctx, request)
		if api.Refused(err) {
			a.Refused = append(a.Refused, sizeRefusal{s.nodes, err.Error()})
			refusal = err
			continue
		}
		if err != nil {
			return a, err
		}
		if len(a.Sizes) == 0 {
			a.Evidence = prediction.Evidence
		}
		option, row := q.evaluate(s, &prediction)
		options, a.Sizes = append(options, option), append(a.Sizes, row)
	}
	best, ok := q.rules.Choose(options)
	if !ok {
		return a, refusal
	}
	if !math.IsInf(options[best].Wait, 1) {
		a.Best = options[best].Nodes
	}
	return a, nil
}

// evaluate returns what a prediction comes to for a shape.
func (q *sizeQuestion) evaluate(s shape, p *api.Prediction) (moldable.Option, sizeRow) {
	row := sizeRow{Nodes: s.nodes, Limit: s.limit, RunLow: s.low, RunHigh: s.high}
	var quantiles []delay.Quantile
	for _, b := range p.Bounds {
		if b.Expected == nil {
			break
		}
		quantiles = append(quantiles, delay.Quantile{Q: b.Quantile, Seconds: *b.Expected})
		switch b.Quantile {
		case .5:
			row.Median = b.Expected
		case .9:
			row.Ninety = b.Expected
		}
	}
	for _, t := range s.times {
		row.Run += t / float64(len(s.times))
	}
	row.NodeTime = float64(s.nodes) * row.Run
	wait := delay.Through(quantiles)
	o := moldable.Option{Nodes: s.nodes, Wait: moldable.Wait(&wait), Run: row.Run, Cost: row.NodeTime}
	if !math.IsInf(o.Wait, 1) {
		ends := o.Turnaround()
		row.Wait, row.Ends = &o.Wait, &ends
	}
	if q.within > 0 && len(quantiles) > 0 {
		times := s.times
		if q.starts {
			times = []float64{0}
		}
		o.Prob = moldable.Ends(&wait, times, float64(q.within))
		row.Prob = &o.Prob
	}
	return o, row
}

// ofShape returns the request of a prediction for the job in a shape.
func (f *jobFlags) ofShape(s shape) (api.PredictRequest, error) {
	g := *f
	g.size.Nodes = fmt.Sprint(s.nodes)
	g.time = slurmtime.FormatDuration(s.limit)
	job, err := g.request()
	if err != nil {
		return api.PredictRequest{}, err
	}
	needs, err := g.needs()
	return api.PredictRequest{Job: job, Needs: needs}, err
}
