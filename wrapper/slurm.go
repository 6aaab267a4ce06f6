package wrapper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Slurm is the Queue behind Slurm's own commands, run as the job's owner.
type Slurm struct {
	// Getenv returns variables of the job's environment.
	Getenv func(string) string
}

// name returns a job as Slurm's commands are to be told it. The last task of an array has the
// number of the array. By this number, Slurm would change all tasks.
func (s Slurm) name(id int64) string {
	name := strconv.FormatInt(id, 10)
	if task := s.Getenv("SLURM_ARRAY_TASK_ID"); task != "" && s.Getenv("SLURM_ARRAY_JOB_ID") == name {
		name += "_" + task
	}
	return name
}

// Job runs squeue. For the first job of a heterogeneous job, squeue also prints the other
// components.
func (s Slurm) Job(id int64) (Job, error) {
	out, err := run("squeue", "--noheader", "--states=all", "--jobs="+s.name(id),
		"--Format=JobID:30,SubmitTime:30,EligibleTime:30,StartTime:30,EndTime:30,TimeLimit:30,State:30")
	if err != nil {
		return Job{}, err
	}
	j, err := parseJob(out, id)
	j.Task = s.Getenv("SLURM_ARRAY_TASK_ID") != ""
	return j, err
}

// parseJob reads squeue's line for a job: its number, four times in UTC, a limit, and the state. It
// ignores lines for other jobs.
func parseJob(lines string, id int64) (Job, error) {
	for line := range strings.Lines(lines) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == strconv.FormatInt(id, 10) {
			return parseFields(fields[1:])
		}
	}
	return Job{}, fmt.Errorf("squeue does not tell of job %d: %.60q", id, lines)
}

func parseFields(fields []string) (Job, error) {
	if len(fields) != 6 {
		return Job{}, fmt.Errorf("squeue: %.60q is not four times, a limit and a state", strings.Join(fields, " "))
	}
	j := Job{Pending: fields[5] == "PENDING"}
	for i, at := range []*int64{&j.Submit, &j.Eligible, &j.Start} {
		t, err := time.Parse(timeFormat, fields[i])
		if err != nil {
			return Job{}, fmt.Errorf("squeue: %w", err)
		}
		*at = t.Unix()
	}
	var err error
	if j.Limit, err = slurmtime.ParseDuration(fields[4]); err != nil {
		return Job{}, fmt.Errorf("squeue: limit: %w", err)
	}
	if j.Pending || j.Limit == slurmtime.Unlimited {
		return j, nil
	}
	j.End = j.Start + j.Limit
	if end, err := time.Parse(timeFormat, fields[3]); err == nil { // it may be N/A
		j.End = end.Unix()
	}
	return j, nil
}

// timeFormat is the format of squeue's times.
const timeFormat = "2006-01-02T15:04:05"

// SetLimit runs scontrol update.
func (s Slurm) SetLimit(id, minutes int64) error {
	_, err := run("scontrol", "update", "JobId="+s.name(id), fmt.Sprintf("TimeLimit=%d", minutes))
	return err
}

// Cancel runs scancel.
func (s Slurm) Cancel(id int64) error {
	_, err := run("scancel", s.name(id))
	return err
}

// Signal runs scancel to send a signal to the steps of a job, as sbatch --signal does. If step is
// not "", it sends the signal to this step only.
func (s Slurm) Signal(id int64, step string, signal syscall.Signal) error {
	target := s.name(id)
	if step != "" {
		target += "." + step
	}
	_, err := run("scancel", "--signal="+strconv.Itoa(int(signal)), target)
	return err
}

// patience is the longest time that one command may take.
const patience = 10 * time.Second

// run runs one of Slurm's commands and returns what it prints.
func run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	path, err := find(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = plain(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch said := strings.TrimSpace(stderr.String()); {
	case err == nil:
		return string(out), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: no answer within %v", name, patience)
	case said != "":
		return "", fmt.Errorf("%s: %s", name, said)
	default:
		return "", fmt.Errorf("%s: %w", name, err)
	}
}

// usualPlaces has the folders to search for Slurm's commands if the job's PATH lacks them.
var usualPlaces = []string{"/usr/bin", "/usr/local/bin", "/opt/slurm/bin"}

func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range usualPlaces {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", errors.New(name + ": not found in the job's PATH")
}

// plain returns an environment without the variables that change the output of Slurm's
// commands, and with the time zone UTC.
func plain(env []string) []string {
	env = slices.DeleteFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "SQUEUE_") || strings.HasPrefix(v, "SCANCEL_") ||
			strings.HasPrefix(v, "SLURM_TIME_FORMAT=") || strings.HasPrefix(v, "SLURM_CLUSTERS=") ||
			strings.HasPrefix(v, "TZ=")
	})
	return append(env, "TZ=UTC")
}
