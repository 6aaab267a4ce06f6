package size

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/moldable"
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

// forecasters are the values of --forecaster; the first is varqd's own.
var forecasters = []string{"varq", api.ForecasterDowney}

func (f *sizeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.shapes.add(flags)
	flags.StringVar(&f.by, "by", "", "the `criterion` of the best: the least expected turnaround, the least cost, or the highest prob")
	flags.StringVar(&f.finishBy, "finish-by", "", "show how probable it is that the job has ended by this `time`")
	flags.StringVar(&f.beginBy, "begin-by", "", "show how probable it is that the job is running by this `time`")
	flags.Float64Var(&f.aversion, "risk-aversion", 0, "wait for more nodes only if that is expected to save this `share` of the run time on those that start first")
	flags.StringVar(&f.forecaster, "forecaster", forecasters[0], "the `forecaster` of the wait to go by: varq or downey, which has Downey's predictors with their bias corrected")
	flags.StringVar(&f.plot, "plot", "", "draw wait, run time and turnaround against nodes into `FILE`.svg or .png")
	_ = cmd.MarkFlagFilename("plot", "svg", "png")
	flags.BoolVar(&f.options, "options", false, "print only the options of the best size, for sbatch $(varq size ...) job.sh")
	criteria := cli.Names(moldable.Criteria, func(c moldable.Criterion) string { return string(c) })
	_ = cmd.RegisterFlagCompletionFunc("by", cli.Complete(criteria...))
	_ = cmd.RegisterFlagCompletionFunc("forecaster", cli.Complete(forecasters...))
}
