// Command bigsite measures varq on a private Slurm of a big site's size, with varq and without, and
// writes a table.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/varq-project/varq/test/bigsite"
	"github.com/varq-project/varq/test/cluster"
)

func main() { cluster.Main("bigsite", run) }

func run(ctx context.Context) error {
	o := bigsite.Big()
	o.Progress = os.Stderr
	flag.IntVar(&o.Nodes, "nodes", o.Nodes, "nodes of the cluster")
	flag.IntVar(&o.Running, "running", o.Running, "jobs that run when the measurement begins, about")
	flag.IntVar(&o.Pending, "pending", o.Pending, "jobs that wait then, about")
	flag.IntVar(&o.Tasks, "array", o.Tasks, "tasks of an array that waits, too")
	flag.IntVar(&o.Reservations, "reservations", o.Reservations, "open reservations")
	flag.Float64Var(&o.Rate, "rate", o.Rate, "submissions a second")
	flag.Float64Var(&o.Reserving, "reserving", o.Reserving, "of these, with varq's options")
	flag.DurationVar(&o.Duration, "duration", o.Duration, "how long is measured")
	flag.DurationVar(&o.Timeout, "timeout", o.Timeout, "slurmrestd.timeout of varq.yaml")
	flag.Float64Var(&o.Load, "load", o.Load, "watch.load of varq.yaml")
	flag.BoolVar(&o.With, "with", o.With, "measure the site with varq")
	flag.BoolVar(&o.Without, "without", o.Without, "measure the site without varq")
	file := flag.String("json", "", "file to which the figures are written as JSON, besides the table")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("there are no arguments, only options: %q", flag.Args())
	}
	r, err := bigsite.Run(ctx, o)
	if r == nil {
		return err
	}
	err = errors.Join(err, r.Write(os.Stdout))
	if *file != "" {
		err = errors.Join(err, save(*file, r))
	}
	return err
}

func save(file string, r *bigsite.Result) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

const usage = `bigsite starts a private Slurm of a big site's size, submits jobs to it all the time, and writes a table of latencies, processor
time and memory, with varq and without. It needs root, and what make build leaves in bin/. Progress is told on standard error.

  go run ./test/bigsite/cmd/bigsite                     # the big site, an hour or so
  go run ./test/bigsite/cmd/bigsite -json big.json > big.md
  go run ./test/bigsite/cmd/bigsite -nodes 20 -running 50 -pending 200 -array 500 -reservations 30 -rate 5 -reserving 1 -duration 10s

`
