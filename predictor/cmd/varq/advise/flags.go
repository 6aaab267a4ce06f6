package advise

import (
	"github.com/spf13/pflag"
)

// flags has the options of advise.
type flags struct {
	cost, interval, left, end, deadline, mtbf, scr string
	since                                          float64
	nodes                                          int
	json                                           bool
	// whether the command line has the option
	given func(name string) bool
}

func (f *flags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cost, "cost", "", "the `time` for which a checkpoint stops the work")
	flags.StringVar(&f.interval, "interval", "", "the `time` for which the work goes on from one such question to the next")
	flags.Float64Var(&f.since, "since-last", 1, "`intervals` of work since the last checkpoint that was done")
	flags.StringVar(&f.left, "left", "", "the `time` that the work takes from now on, without checkpoints (default: unknown)")
	flags.StringVar(&f.end, "end", "", "the `time` at which the job is stopped: its limit, or a maintenance (default $SLURM_JOB_END_TIME)")
	flags.StringVar(&f.deadline, "deadline", "", "the `time` by which the job should be done; with --left")
	flags.StringVar(&f.mtbf, "mtbf", "", "the mean `time` between failures of one node")
	flags.IntVar(&f.nodes, "nodes", 0, "the `number` of the job's nodes (default $SLURM_JOB_NUM_NODES, or 1)")
	flags.StringVar(&f.scr, "scr", "", "print variables for the library SCR instead, of which this `setting` is filled: seconds, interval or overhead")
	flags.Lookup("scr").NoOptDefVal = scrSeconds
	flags.BoolVar(&f.json, "json", false, "show the advice in JSON: durations in seconds")
	f.given = flags.Changed
}
