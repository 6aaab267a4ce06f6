// Command mixed runs a campaign on a private Slurm with different kinds of nodes, and writes what
// it has found. See package mixed.
package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/mixed"
)

func main() { cluster.Main("mixed", run) }

func run(ctx context.Context) error {
	o := mixed.Usual()
	o.Progress = os.Stderr
	o.Version = cluster.Chosen()
	flag.Uint64Var(&o.Seed, "seed", o.Seed, "of all that is drawn")
	flag.DurationVar(&o.Warm, "warm", o.Warm, "how long varqd learns from plain jobs first")
	flag.DurationVar(&o.Duration, "duration", o.Duration, "how long promises are asked for")
	flag.DurationVar(&o.Pace, "pace", o.Pace, "mean time between two requests for a promise")
	flag.Float64Var(&o.Load, "load", o.Load, "share of the cluster that plain jobs keep busy")
	flag.Parse()
	if flag.NArg() > 0 {
		return errors.New("there are no arguments, only options: -help")
	}
	r, err := mixed.Run(ctx, o)
	if err != nil {
		return err
	}
	return r.Write(os.Stdout)
}
