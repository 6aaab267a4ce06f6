// Package trace is the command that converts the output of Slurm's accounting into a log.
package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/slurm/sacct"
)

// flags has the options of trace.
type flags struct {
	output string
	procs  int32
}

// New returns the command trace.
func New(env *cli.Env) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "trace [options] [FILE]",
		Short: "Make a log for simulate out of Slurm's accounting",
		Long: `Trace reads what sacct printed, from FILE or standard input, and writes the jobs
as a log in the Standard Workload Format, which 'varq-lab simulate' replays: each
submitted when it could have started. Users, accounts and jobs have numbers there,
and no names; partitions and QOS keep theirs. What the log leaves out is counted
on standard error.

Sacct's own local times are read too, but in autumn an hour comes twice: set
SLURM_TIME_FORMAT. In a script, set -o pipefail, lest sacct fail unseen.`,
		Example: `  SLURM_TIME_FORMAT=%s sacct -aXDP -S now-90days -o \
    ` + strings.Join(sacct.Fields, ",") + ` |
    varq-lab trace --output=site.swf.gz
  varq-lab simulate compare --trace=site.swf.gz`,
		Args: cli.OneFile,
	}
	options := cmd.Flags()
	options.StringVar(&f.output, "output", "", "write the log into `FILE`.swf or .swf.gz, not to standard output")
	options.Int32Var(&f.procs, "procs", 0, "`processors` of the machine (default: the most that the log's jobs used at once)")
	_ = cmd.MarkFlagFilename("output", "swf", "gz")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.Flags().Changed("procs") && f.procs < 1:
			return cli.Usage(cmd, fmt.Errorf("--procs: %d is not a number of processors", f.procs))
		case cmd.Flags().Changed("output") && !strings.HasSuffix(strings.TrimSuffix(f.output, ".gz"), ".swf"):
			return cli.Usage(cmd, fmt.Errorf("--output: the name %q must end in .swf or .swf.gz", f.output))
		case len(args) == 0 && cli.IsTerminal(env.Stdin):
			return cli.Usage(cmd, errors.New("where is sacct's output? Give a file, or let sacct write into a pipe"))
		case len(args) == 0:
			return f.run(cmd.Context(), env, "standard input", env.Stdin)
		}
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		return f.run(cmd.Context(), env, filepath.Base(args[0]), file)
	}
	return cmd
}

// run turns sacct's output into a log.
func (f *flags) run(ctx context.Context, env *cli.Env, name string, in io.Reader) error {
	finish := func(write func(io.Writer) error) error { return write(env.Stdout) }
	discard := func() error { return nil }
	if f.output != "" {
		file, err := trace.CreateFile(f.output)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		finish, discard = file.Finish, file.Discard
	}
	log, err := trace.FromSlurm(interruptible(ctx, sacct.Records(name, in, env.Zone)))
	if err == nil && log.Ran == 0 {
		err = fmt.Errorf("%s: no job that has run, and ended", name)
	}
	if err != nil {
		return errors.Join(err, discard())
	}
	procs := int64(f.procs)
	if procs == 0 {
		procs = log.Peak
	}
	if err := finish(func(w io.Writer) error { return log.Write(w, procs) }); err != nil {
		return err
	}
	tell(env.Stderr, log, f.procs > 0)
	return nil
}

// tell shows the numbers of jobs that the log leaves out or has as cancelled. It shows
// the number of processors if that is derived from the jobs.
func tell(w io.Writer, log *trace.SlurmLog, knowsProcs bool) {
	for _, left := range []struct {
		jobs int
		what string
	}{
		{log.Cancelled, "ended without having run, in the log as cancelled"},
		{log.Pending, "left out, still pending"},
		{log.Running, "left out, still running"},
		{log.Odd, "left out, without processors or with times that contradict one another"},
	} {
		if left.jobs > 0 {
			fmt.Fprintf(w, "varq-lab: %s: %s\n", left.what, cli.Thousands(left.jobs))
		}
	}
	if !knowsProcs {
		fmt.Fprintf(w, "varq-lab: processors of the machine, the most that were in use at once: %s; --procs overrides that\n",
			cli.Thousands(int(log.Peak)))
	}
}

// interruptible yields the elements of all. When ctx ends, it yields cli.ErrInterrupted and
// stops, so that a part of sacct's output does not pass for the whole.
func interruptible[T any](ctx context.Context, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range all {
			if ctx.Err() != nil {
				break
			}
			if !yield(v, err) {
				return
			}
		}
		if ctx.Err() != nil {
			var none T
			yield(none, cli.ErrInterrupted)
		}
	}
}
