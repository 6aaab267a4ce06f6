package sbatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// cancelTries is how often Cancel goes through its steps. Once is enough unless the job changes
// meanwhile.
const cancelTries = 3

// Cancel cancels the job of a tentative promise, without varqd, by Slurm's own commands, unless it
// has started. It returns whether it has. After an error nobody knows, and the job is as varqd
// expects it: confirmed or not.
//
// No job that runs is cancelled: first its begin time is put off again, which Slurm does only to a
// job that is pending, and only then, if it is pending still, it is cancelled.
func (p *Program) Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error) {
	return p.cancel(ctx, plan.ID, job, plan.SubmitBegin())
}

// cancel is Cancel of the job of a plan, which is put off to a time, Unix seconds.
func (p *Program) cancel(ctx context.Context, plan string, job, putOff int64) (started bool, err error) {
	id := strconv.FormatInt(job, 10)
	var failed error
	for range cancelTries {
		s, err := p.look(ctx, plan, id)
		switch {
		case err != nil:
			return false, err
		case s.nodes != "":
			return true, nil
		case s.state != "PENDING":
			return false, nil
		}
		if _, failed = p.Control(ctx, "scontrol", "update", "JobId="+id, "StartTime="+moment(putOff)); failed != nil {
			continue // it may have started
		}
		_, failed = p.Control(ctx, "scancel", "--state=PENDING", id)
	}
	s, err := p.look(ctx, plan, id)
	switch {
	case err != nil:
		return false, err
	case s.nodes == "" && s.state == "PENDING":
		if failed == nil {
			failed = errors.New("it stays pending")
		}
		return false, fmt.Errorf("job %s cannot be cancelled: %w", id, failed)
	}
	return s.nodes != "", nil
}

// moment writes a time, Unix seconds, as Slurm reads it.
func moment(at int64) string { return "uts" + strconv.FormatInt(at, 10) }

// look is what Slurm says of a job: its state, and the nodes that it has, or has had.
type look struct{ state, nodes string }

// look asks for a job, which must be that of the plan: a slurmctld that has lost one gives its
// number to another.
func (p *Program) look(ctx context.Context, plan, id string) (look, error) {
	out, err := p.Control(ctx, "squeue", "--noheader", "--states=all", "--jobs="+id, "--format=%i|%T|%N|%k")
	if err != nil {
		return look{}, err
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "|", 4)
		if len(fields) != 4 || strings.TrimSpace(fields[0]) != id {
			continue // squeue --clusters tells the cluster's name
		}
		if named, ok := api.PlanInComment(fields[3]); !ok || named != plan {
			return look{}, fmt.Errorf("job %s is another one now", id)
		}
		return look{strings.TrimSpace(fields[1]), strings.TrimSpace(fields[2])}, nil
	}
	return look{}, fmt.Errorf("Slurm does not know job %s", id) //nolint:staticcheck // a name
}

// CancelJobs cancels those of a user's jobs that are in the queue, or of these those that wait.
// That some have ended meanwhile is no error.
func (p *Program) CancelJobs(ctx context.Context, jobs []int64, wait bool) error {
	states, args, numbers := "PENDING,RUNNING,SUSPENDED", []string(nil), map[string]bool{}
	if wait {
		states, args = "PENDING", []string{"--state=PENDING"}
	}
	for _, job := range jobs {
		id := strconv.FormatInt(job, 10)
		args, numbers[id] = append(args, id), true
	}
	_, failed := p.Control(ctx, "scancel", args...)
	if failed == nil {
		return nil
	}
	queue, err := p.Control(ctx, "squeue", "--noheader", "--me", "--states="+states, "--format=%A %F")
	if err != nil {
		return failed
	}
	for line := range strings.Lines(queue) {
		if slices.ContainsFunc(strings.Fields(line), func(id string) bool { return numbers[id] }) {
			return failed
		}
	}
	return nil
}

// Control runs another of Slurm's commands, the one beside sbatch, and returns what it prints. Its
// environment is that of sbatch, without what users preset for themselves.
func (p *Program) Control(ctx context.Context, name string, args ...string) (string, error) {
	path := name
	if strings.Contains(p.Path, "/") {
		path = filepath.Join(filepath.Dir(p.Path), name)
	}
	if p.Cluster != "" {
		args = append([]string{"--clusters=" + p.Cluster}, args...)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	// What users preset for themselves, as SCANCEL_INTERACTIVE, is not for this.
	cmd.Env = slices.DeleteFunc(slices.Clone(p.Env), func(v string) bool {
		return strings.HasPrefix(v, "SQUEUE_") || strings.HasPrefix(v, "SCANCEL_") || strings.HasPrefix(v, "SCONTROL_")
	})
	cmd.WaitDelay = reportTime
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", name, ctx.Err())
	case err != nil:
		return "", fmt.Errorf("%s: %w: %.200s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
