package quote

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// NewPredict returns the command predict.
func NewPredict(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "predict [options] [options of sbatch]",
		Short: "Tell how long a job would wait if it were submitted now",
		Long: `Predict tells how long a job would wait in the queue if it were submitted now. Give
the options that sbatch will get.

  Wait      a forecast: with the quantile as probability, the job waits no longer; at
            quantile 0.9 that is so in nine cases of ten
  Promised  within this time varq promises a start with this probability
  StartBy   that time by the clock

A promise is more careful than a forecast. Promised and StartBy are for work that
starts as soon as its job does; varq quote --best-effort tells the same. On a cluster
without varqd nothing is promised, and varq-alone shows Wait alone.`,
		Example: `  varq predict -N4 -t 1:00:00
  varq predict -p gpu --gpus=2 -t 30 --quantile=0.5,0.99
  varq predict -N4 -t 1:00:00 --why
  varq predict -N16 -t 1-00:00:00 --json`,
		Args: cli.NoArguments,
	}
	job := options.AddJob(cmd, link.Cluster)
	job.AddOthers()
	quantiles := cmd.Flags().Float64Slice("quantile", nil, "`quantiles` of the wait, between 0 and 1 (default 0.5,0.75,0.9,0.95)")
	cmd.Flags().Lookup("quantile").DefValue = "" // its usage tells those of varqd
	why := cmd.Flags().Bool("why", false, "tell in sentences what the prediction rests on")
	asJSON := options.AddJSON(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		request := api.PredictRequest{Quantiles: *quantiles}
		var err error
		if request.Job, err = job.Request(); err != nil {
			return cli.Usage(cmd, err)
		}
		job.Size.Nodes, _, _ = strings.Cut(job.Size.Nodes, "-") // of a range, the least
		if request.Needs, err = job.Needs(); err != nil {
			return cli.Usage(cmd, err)
		}
		if err := request.Check(); err != nil {
			return cli.Usage(cmd, api.ByOption(err, env.Moment))
		}
		varqd, err := link.DialForecaster(cmd.Context(), env)
		if err != nil {
			return err
		}
		prediction, err := varqd.Predict(cmd.Context(), request)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(env.Stdout, prediction)
		}
		if err := showPrediction(env, prediction, varqd.Own); err != nil {
			return err
		}
		if b := prediction.Blocked; b != nil {
			if _, err := fmt.Fprintf(env.Stdout, "\nFrom %s to %s %s: Slurm starts no job that would run into that.\n", env.Moment(b.Start), env.Moment(b.End), b.Why); err != nil {
				return err
			}
		}
		if !*why || varqd.Own { // which has no scores
			if _, err = fmt.Fprintf(env.Stdout, "\n%s\n", strings.Join(append(nodes(env, &prediction), told.Basis(&prediction.Evidence, env.Now())), "\n")); err != nil {
				return err
			}
			return varqd.Caveat(cmd.Context(), env, prediction.AsOf)
		}
		scores, err := varqd.Calibration(cmd.Context(), api.CalibrationQuery{
			Forecaster: told.Believed, Partition: prediction.Job.Partition, Start: env.Now() - options.CalibrationTime,
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "\n%s\n", strings.Join(reasons(env, &prediction, &scores), "\n"))
		return err
	}
	return cmd
}

// showPrediction shows the bounds, without what is promised where nobody promises.
func showPrediction(env *cli.Env, p api.Prediction, own bool) error {
	now := env.Now()
	wait := func(seconds *float64) string {
		if seconds == nil {
			return "unknown"
		}
		return slurmtime.FormatDuration(int64(math.Ceil(*seconds)))
	}
	columns := []table.Column[api.Bound]{
		table.Number("Quantile", func(b api.Bound) string { return strconv.FormatFloat(b.Quantile, 'g', -1, 64) }),
		table.Number("Wait", func(b api.Bound) string { return wait(b.Expected) }),
		table.Number("Promised", func(b api.Bound) string { return wait(b.Seconds) }),
		table.Text("StartBy", func(b api.Bound) string {
			if b.Seconds == nil {
				return cli.None
			}
			return env.Moment(now + int64(math.Ceil(*b.Seconds)))
		}),
	}
	if own {
		columns = columns[:2]
	}
	return table.Write(env.Stdout, columns, p.Bounds, table.Style{})
}
