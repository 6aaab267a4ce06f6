// Command chaos runs the campaign of package chaos for a given time, or checks the evidence of a
// campaign again. It exits with 1 if something was violated.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/varq-project/varq/test/chaos"
	"github.com/varq-project/varq/test/cluster"
)

func main() { cluster.Main("chaos", run) }

func run(ctx context.Context) error {
	o := chaos.Options{Progress: os.Stdout}
	flag.Uint64Var(&o.Seed, "seed", 0, "seed of all decisions; 0 takes one from the clock")
	flag.DurationVar(&o.Duration, "duration", time.Hour, "how long jobs are submitted; 0 is not a bound")
	flag.IntVar(&o.Submissions, "submissions", 0, "how many jobs are submitted at most; 0 is not a bound")
	flag.DurationVar(&o.Pace, "pace", 500*time.Millisecond, "mean time between two submissions")
	flag.DurationVar(&o.Pause, "pause", 20*time.Second, "mean time between two faults of a lane")
	flag.IntVar(&o.Nodes, "nodes", 16, "nodes of the cluster")
	flag.StringVar(&o.Evidence, "evidence", "", "folder for the evidence; default build/chaos-SEED")
	cluster.AddFlags(flag.CommandLine, &o.Version)
	again := flag.Bool("check", false, "only check the evidence in the folder again")
	flag.Parse()
	if *again {
		report, err := chaos.Check(o.Evidence)
		return show(report, err, o.Evidence)
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().Unix())
	}
	if o.Evidence == "" {
		o.Evidence = filepath.Join("build", fmt.Sprintf("chaos-%d", o.Seed))
	}
	report, err := chaos.Run(ctx, o)
	return show(report, err, o.Evidence)
}

func show(report *chaos.Report, err error, evidence string) error {
	if report == nil {
		return err
	}
	err = errors.Join(err, report.Write(os.Stdout))
	if len(report.Violations) > 0 {
		err = errors.Join(err, fmt.Errorf("%d violations; the evidence is in %s", len(report.Violations), evidence))
	}
	return err
}
