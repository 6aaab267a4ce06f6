package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Run is the result of a command.
type Run struct {
	Stdout, Stderr string
	Code           int // exit code
	Took           time.Duration
}

// Run runs a command as a user of the cluster: a command of Slurm, or of varq ("varq", "varqd",
// "varq-wrapper"). A non-zero exit code is not an error. Run runs the command again if it failed
// because a busy varqd did not answer in time, or a busy slurmctld one of repeatable.
func (s *Site) Run(ctx context.Context, user, name string, args ...string) (Run, error) {
	for {
		r, err := s.runOnce(ctx, user, name, args...)
		unanswered := strings.Contains(r.Stderr, ": no answer within ") ||
			slices.Contains(repeatable, name) && strings.Contains(r.Stderr, "Socket timed out on send/recv operation")
		if r.Code == 0 || !unanswered {
			return r, err
		}
	}
}

// repeatable are the commands of Slurm that do the same if they are run twice.
var repeatable = []string{"sacct", "scancel", "scontrol", "sinfo", "squeue"}

// Prepare prepares a command as Run runs it.
func (s *Site) Prepare(ctx context.Context, user, name string, args ...string) *exec.Cmd {
	cmd := s.Command(ctx, user, name, args...)
	cmd.Env = append(cmd.Env, "VARQ_CONFIG="+s.Config())
	return cmd
}

func (s *Site) runOnce(ctx context.Context, user, name string, args ...string) (Run, error) {
	cmd := s.Prepare(ctx, user, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r := Run{Stdout: stdout.String(), Stderr: stderr.String(), Took: time.Since(began)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.Code, err = exit.ExitCode(), nil
	}
	return r, err
}

// Wrapper returns the path of varq-wrapper, for job scripts.
func (s *Site) Wrapper() string { return filepath.Join(s.programs.bin, "varq-wrapper") }

// Agent returns the path of varq-agent.
func (s *Site) Agent() string { return filepath.Join(s.programs.sbin, "varq-agent") }

// Submit runs sbatch --parsable with additional arguments and returns the job id. A non-zero
// exit code is an error.
func (s *Site) Submit(ctx context.Context, user string, args ...string) (int64, Run, error) {
	r, err := s.Run(ctx, user, "sbatch", append([]string{"--parsable"}, args...)...)
	if err != nil {
		return 0, r, err
	}
	if r.Code != 0 {
		return 0, r, fmt.Errorf("sbatch %s: exit code %d: %s", strings.Join(args, " "), r.Code, r.Stderr)
	}
	// a cluster that was named comes behind it
	number, _, _ := strings.Cut(strings.TrimSpace(r.Stdout), ";")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, r, fmt.Errorf("sbatch --parsable printed %q", r.Stdout)
	}
	return id, r, nil
}

// Job returns the fields that `scontrol show job` prints, by name. If Slurm no longer knows
// the job, Job returns an error.
func (s *Site) Job(ctx context.Context, id int64) (map[string]string, error) {
	r, err := s.Run(ctx, "root", "scontrol", "--oneliner", "show", "job", strconv.FormatInt(id, 10))
	if err != nil {
		return nil, err
	}
	if r.Code != 0 {
		return nil, errors.New(strings.TrimSpace(r.Stderr))
	}
	fields := make(map[string]string)
	for _, word := range strings.Fields(r.Stdout) {
		if key, value, ok := strings.Cut(word, "="); ok {
			fields[key] = value
		}
	}
	return fields, nil
}

// WaitState waits until the job is in one of the given Slurm states. It returns an error if
// that takes longer than cluster.Patience.
func (s *Site) WaitState(ctx context.Context, id int64, states ...string) error {
	var last string
	if eventually(ctx, func() bool {
		job, err := s.Job(ctx, id)
		if err != nil {
			last = err.Error()
			return false
		}
		last = job["JobState"]
		for _, state := range states {
			if last == state {
				return true
			}
		}
		return false
	}) {
		return nil
	}
	return fmt.Errorf("job %d: %s, and never %s", id, last, strings.Join(states, " or "))
}

// Reservation returns the job's reservation, from `varq status`. It returns an error if there
// is none.
func (s *Site) Reservation(ctx context.Context, user string, id int64) (api.Reservation, error) {
	r, err := s.Run(ctx, user, "varq", "status", "--json", strconv.FormatInt(id, 10))
	if err != nil {
		return api.Reservation{}, err
	}
	if r.Code != 0 {
		return api.Reservation{}, errors.New(strings.TrimSpace(r.Stderr))
	}
	var found []api.Reservation
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		return api.Reservation{}, fmt.Errorf("varq status --json: %w in %q", err, r.Stdout)
	}
	if len(found) != 1 {
		return api.Reservation{}, fmt.Errorf("%d reservations of job %d", len(found), id)
	}
	return found[0], nil
}

// WaitSettled waits until the job's reservation is in one of the given states, and returns it.
// It returns an error if that takes longer than cluster.Patience.
func (s *Site) WaitSettled(ctx context.Context, user string, id int64, states ...string) (api.Reservation, error) {
	var (
		last api.Reservation
		err  error
	)
	if eventually(ctx, func() bool {
		last, err = s.Reservation(ctx, user, id)
		return err == nil && slices.Contains(states, last.State)
	}) {
		return last, nil
	}
	return last, fmt.Errorf("reservation of job %d: %q, and never %s (%w)", id, last.State, strings.Join(states, " or "), err)
}
