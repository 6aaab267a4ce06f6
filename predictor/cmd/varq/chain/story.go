package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
	"github.com/varq-project/varq/predictor/workload"
)

// folder returns where the chains of a user are, by the environment.
func folder(env *cli.Env) (string, error) { return env.StateFolder("chains", "chains") }

// run is one run of a link. Times are Unix seconds.
type run struct {
	job        int64
	start, end int64 // of the work; end is 0 if nobody has written it down
	limit      int64 // of its time, in seconds; 0 if that is not known
	done       bool  // the work is done
}

// over returns when the work of a run is over at the latest, or 0 if that is not known.
func (r *run) over() int64 {
	switch {
	case r.end != 0:
		return r.end
	case r.limit != 0:
		return r.start + r.limit
	}
	return 0
}

// parse reads the story of a chain: "limit SECONDS", "start JOB TIME" and "end JOB TIME CODE", a
// line each, the latter with a further word if the work was told to stop. What is none it leaves
// out.
func parse(story string) (runs []run) {
	limit := int64(0)
	for line := range strings.Lines(story) {
		var what, stopped string
		var job, at int64
		code := -1
		n, _ := fmt.Sscan(line, &what, &job, &at, &code, &stopped)
		switch {
		case what == "limit" && n == 2:
			limit = job
		case what == "start" && n == 3:
			runs = append(runs, run{job: job, start: at, limit: limit})
		case what == "end" && n >= 4:
			of := func(r run) bool { return r.job == job && r.end == 0 }
			if i := slices.IndexFunc(runs, of); i >= 0 {
				runs[i].end, runs[i].done = at, code == 0 && stopped == ""
			}
		}
	}
	return runs
}

// jobs returns the jobs of a chain, by what its folder has: of the runs, and those that wait.
func jobs(dir string, runs []run) (all []int64, err error) {
	for _, r := range runs {
		all = append(all, r.job)
	}
	submitted, err := filepath.Glob(filepath.Join(dir, "next.*"))
	if err != nil {
		return nil, err
	}
	for _, path := range submitted {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if job, ok := sbatch.Number(string(text)); ok && !slices.Contains(all, job) {
			all = append(all, job)
		}
	}
	return all, nil
}

// slurmCommands are those of Slurm, as a shell finds them.
func slurmCommands() *sbatch.Program { return &sbatch.Program{Path: "sbatch", Env: os.Environ()} }

// queue are the user's jobs that are in Slurm's queue, and whether each waits.
type queue map[int64]bool

// readQueue reads the queue from squeue.
func readQueue(ctx context.Context) (queue, error) {
	out, err := slurmCommands().Control(ctx, "squeue", "--noheader", "--me", "--states=all", "--format=%i|%T")
	if err != nil {
		return nil, err
	}
	q := queue{}
	for line := range strings.Lines(out) {
		id, word, _ := strings.Cut(strings.TrimSpace(line), "|")
		state := slurm.ParseState(word)
		if job, err := strconv.ParseInt(id, 10, 64); err == nil && !state.Finished() {
			q[job] = state == workload.Pending
		}
	}
	return q, nil
}

// of returns those of some jobs that wait, and those that run.
func (q queue) of(jobs []int64) (wait, run []string) {
	for _, job := range jobs {
		switch waits, in := q[job]; {
		case waits:
			wait = append(wait, strconv.FormatInt(job, 10))
		case in:
			run = append(run, strconv.FormatInt(job, 10))
		}
	}
	return wait, run
}

// list tells of all chains. Without Slurm it does not tell which are over.
func list(ctx context.Context, env *cli.Env) error {
	folder, err := folder(env)
	if err != nil {
		return err
	}
	chains, err := filepath.Glob(filepath.Join(folder, "*", "link"))
	if err != nil {
		return err
	}
	if len(chains) == 0 {
		fmt.Fprintln(env.Stderr, "varq: you have no chains: 'varq chain --links=10 -- sbatch -t 24:00:00 train.sh' begins one")
	}
	q, unknown := readQueue(ctx)
	for i, path := range chains {
		dir := filepath.Dir(path)
		text, err := os.ReadFile(filepath.Join(dir, "links"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		runs := parse(string(text))
		all, err := jobs(dir, runs)
		if err != nil {
			return err
		}
		wait, run := q.of(all)
		fmt.Fprint(env.Stdout, tell(env, filepath.Base(dir), runs, unknown == nil && len(wait)+len(run) == 0))
	}
	return nil
}

// tell tells of a chain: a line for each run of a link, with the gap before it, which is from the
// end of the run before, or from the end of its time limit. It may be over.
func tell(env *cli.Env, id string, runs []run, over bool) string {
	var s strings.Builder
	s.WriteString("chain " + id)
	switch {
	case over && len(runs) == 0:
		s.WriteString(": over, and its first link never began")
	case over:
		s.WriteString(": over")
	case len(runs) == 0:
		s.WriteString(": its first link has not begun")
	}
	s.WriteByte('\n')
	for i, r := range runs {
		end := "-"
		if r.end != 0 {
			end = env.Moment(r.end)
		}
		fmt.Fprintf(&s, "  job %d: from %s to %s", r.job, env.Moment(r.start), end)
		if i > 0 && runs[i-1].over() != 0 {
			fmt.Fprintf(&s, ", %s after the one before it", slurmtime.FormatDuration(max(0, r.start-runs[i-1].over())))
		}
		if r.done {
			s.WriteString(": done")
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// validID is the form of a chain's identifier.
var validID = regexp.MustCompile(`^[a-z0-9]{6}$`)

// newStop returns the command chain stop.
func newStop(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:                   "stop CHAIN",
		Short:                 "End a chain: the link that runs goes on, and none comes after it",
		DisableFlagsInUseLine: true,
		Example:               "  varq chain stop abcdef",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !validID.MatchString(args[0]) {
				return cli.Usage(cmd, errors.New("name the chain, as 'varq chain' lists it"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := folder(env)
			if err != nil {
				return err
			}
			dir := filepath.Join(folder, args[0])
			if _, err := os.Stat(filepath.Join(dir, "link")); err != nil {
				return fmt.Errorf("there is no chain %s; 'varq chain' lists them", args[0])
			}
			if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600); err != nil {
				return err
			}
			done, err := cancelWaiting(cmd.Context(), dir)
			if err != nil {
				return fmt.Errorf("no link submits another any more, but one may wait: %w", err)
			}
			fmt.Fprintf(env.Stdout, "chain %s is stopped: %s\n", args[0], done)
			return nil
		},
	}
}

// cancelWaiting cancels the jobs of a chain that wait, and tells what has become of all.
func cancelWaiting(ctx context.Context, dir string) (done string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "links"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	all, err := jobs(dir, parse(string(text)))
	if err != nil {
		return "", err
	}
	q, err := readQueue(ctx)
	if err != nil {
		return "", err
	}
	wait, run := q.of(all)
	var said []string
	if len(wait) > 0 {
		_, failed := slurmCommands().Control(ctx, "scancel", append([]string{"--state=PENDING"}, wait...)...)
		if q, err = readQueue(ctx); err != nil {
			return "", err
		}
		var left []string
		if left, run = q.of(all); len(left) > 0 {
			return "", cmp.Or(failed, fmt.Errorf("job %s is still in the queue: 'scancel %[1]s' cancels it", strings.Join(left, " ")))
		}
		wait = slices.DeleteFunc(wait, func(job string) bool { return slices.Contains(run, job) })
	}
	if len(wait) > 0 {
		said = append(said, fmt.Sprintf("job %s, which waited, is cancelled", strings.Join(wait, ", ")))
	}
	if len(run) > 0 {
		said = append(said, fmt.Sprintf("job %s goes on, and none comes after it", strings.Join(run, ", ")))
	}
	return cmp.Or(strings.Join(said, "; "), "no job of it runs or waits"), nil
}
