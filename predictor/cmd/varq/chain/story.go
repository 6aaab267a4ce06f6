package chain

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
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

// list tells of all chains.
func list(env *cli.Env) error {
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
	for i, path := range chains {
		dir := filepath.Dir(path)
		text, err := os.ReadFile(filepath.Join(dir, "links"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		fmt.Fprint(env.Stdout, tell(env, filepath.Base(dir), parse(string(text))))
	}
	return nil
}

// tell tells of a chain: a line for each run of a link, with the gap before it, which is from the
// end of the run before, or from the end of its time limit.
func tell(env *cli.Env, id string, runs []run) string {
	var s strings.Builder
	if len(runs) == 0 {
		fmt.Fprintf(&s, "chain %s: its first link has not begun\n", id)
		return s.String()
	}
	fmt.Fprintf(&s, "chain %s\n", id)
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
			waiting, err := filepath.Glob(filepath.Join(dir, "next.*"))
			if err != nil || len(waiting) == 0 {
				return err
			}
			jobs := []string{"--state=PENDING"}
			for _, path := range waiting {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				number, _, _ := strings.Cut(strings.TrimSpace(string(text)), ";")
				if number != "" {
					jobs = append(jobs, number)
				}
			}
			if out, err := exec.CommandContext(cmd.Context(), "scancel", jobs...).CombinedOutput(); err != nil {
				return fmt.Errorf("no link submits another any more, but one may wait: scancel: %w: %s", err, strings.TrimSpace(string(out)))
			}
			return nil
		},
	}
}
