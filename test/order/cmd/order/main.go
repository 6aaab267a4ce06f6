// Command order runs a stream of jobs on a private Slurm and records its queue. Or it replays
// recordings and measures how well waits are forecast, with what Slurm says of its order and
// without.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/order"
)

func main() { cluster.Main("order", run) }

func run(ctx context.Context) (err error) {
	site := order.Site{}
	flag.Uint64Var(&site.Seed, "seed", 1, "seed of the jobs")
	flag.DurationVar(&site.Until, "duration", time.Hour, "how long jobs are submitted")
	flag.Float64Var(&site.Load, "load", 1, "share of the cluster's time that jobs ask for")
	record := flag.String("record", "", "file to write a recording to; without it those named are replayed")
	flag.Parse()
	if *record == "" {
		for _, name := range flag.Args() {
			if err := compare(name); err != nil {
				return err
			}
		}
		return nil
	}
	file, err := os.Create(*record)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	return site.Record(ctx, file, os.Stderr)
}

func compare(name string) error {
	r, err := order.Open(name)
	if err != nil {
		return err
	}
	fmt.Printf("%s: ", name)
	if err := r.Compare(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	if err := r.CompareRests(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	return r.CompareTested(os.Stdout)
}
