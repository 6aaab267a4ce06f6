// Package sbatch runs sbatch for a user. varq-filter, which plans the job, reports back what sbatch
// itself does not: the job's request as Slurm has read it from options, environment and script, the
// plan, and the job.
package sbatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Program is the sbatch of a cluster, with a job.
type Program struct {
	// Path is where it is; "sbatch" is found as a shell finds it.
	Path string
	// Env is its environment.
	Env []string
	// Cluster is what --clusters is given, if not empty.
	Cluster string
	// Own are options that come first, and Args what the user has given it: options, and the script
	// or --wrap. A script on standard input is not read.
	Own, Args []string
}

// Refused is the error of a job that cannot be promised.
type Refused struct{ api.Refusal }

func (r *Refused) Error() string { return r.Reason }

// Misuse is the error of options or a script that sbatch or varq-filter does not take.
type Misuse struct{ Why string }

func (m *Misuse) Error() string { return "sbatch: " + m.Why }

// errSilent is the error of an sbatch that has not called varq-filter.
var errSilent = errors.New("sbatch has not asked varq about the job: either an option keeps it from submitting one (--help, --usage, --version), or its cluster has no varq, or an older one (varq doctor tells)")

// Description is what a job asks for.
type Description struct {
	api.PlanRequest
	// Parsable is true if sbatch is to print the job's number alone.
	Parsable bool
	// Notes are what the user should know of how sbatch's options were read: clauses without a full
	// stop.
	Notes []string
	// Comment is the job's, and Arguments is how many of Program.Args, the last ones, are the
	// script and its arguments.
	Comment   string
	Arguments int
}

// Describe returns what the job asks for, as varq-filter reads it by an order, whose Describe it
// sets. Nothing is submitted.
func (p *Program) Describe(ctx context.Context, o Order) (*Description, error) {
	o.Describe = true
	r, err := p.run(ctx, o)
	switch {
	case r.described != nil:
		return r.described, nil
	case err != nil:
		return nil, err
	}
	return nil, errSilent
}

// Submission is a job that was submitted with a promise.
type Submission struct {
	Plan *api.Plan
	Job  int64
}

// Submit submits the job with an order, whose Report it sets. If it fails after a promise was made,
// the submission has the plan, and Slurm may have accepted the job nevertheless. An error that is a
// *Refused is varqd's answer.
func (p *Program) Submit(ctx context.Context, o Order) (Submission, error) {
	r, err := p.run(ctx, o)
	switch {
	case r.refusal != nil:
		return Submission{}, &Refused{*r.refusal}
	case err == nil && (r.plan == nil || r.job == 0):
		err = errSilent
	}
	return Submission{r.plan, r.job}, err
}

// result is what varq-filter has told of one run.
type result struct {
	described *Description
	plan      *api.Plan
	refusal   *api.Refusal
	job       int64
}

// How long sbatch's end may be ahead of varq-filter's last report, and what reads its output still.
const (
	reportTime = 2 * time.Second
	reportStep = 20 * time.Millisecond
)

// run runs sbatch once, with varq-filter. If sbatch is killed, varq-filter takes a promise back by
// itself.
func (p *Program) run(ctx context.Context, o Order) (r result, err error) {
	file, err := os.CreateTemp("", "varq-reserve-")
	if err != nil {
		return r, err
	}
	defer os.Remove(file.Name())
	file.Close()
	o.Report = file.Name()
	variable, err := o.Variable()
	if err != nil {
		return r, err
	}
	stdout, stderr, failed := p.execute(ctx, slices.Concat(p.Own, p.Args), variable)
	until := time.Now().Add(reportTime)
	for {
		if r, err = readResult(o.Report); err != nil {
			return r, err
		}
		if failed != nil || o.Describe || r.job != 0 || time.Now().After(until) {
			break
		}
		time.Sleep(reportStep)
	}
	if failed == nil && r.job == 0 && r.plan != nil {
		r.job = submitted(stdout)
	}
	if failed != nil && r.described == nil {
		err = failure(ctx, failed, stderr)
		if r.plan != nil && strings.Contains(stderr, timedOut) {
			err = fmt.Errorf("%w; Slurm may take the job all the same: it cannot start then, and varqd cancels it", err)
		}
	}
	return r, err
}

// execute runs sbatch with arguments and with more variables in its environment. It is killed when
// ctx is done or this process ends.
func (p *Program) execute(ctx context.Context, args []string, more ...string) (stdout, stderr string, err error) {
	if p.Cluster != "" {
		args = append([]string{"--clusters=" + p.Cluster}, args...)
	}
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = slices.Concat(p.Env, more)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = reportTime
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runtime.LockOSThread() // Pdeathsig is about the thread that has started the process
	err = cmd.Run()
	runtime.UnlockOSThread()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), errs.String(), err
}

// readResult reads what varq-filter has told so far.
func readResult(path string) (r result, err error) {
	reports, err := reportsIn(path)
	for i := range reports {
		switch report := &reports[i]; {
		case report.Request != nil:
			r.described = &Description{*report.Request, report.Parsable, report.Notes, report.Comment, report.Arguments}
		case report.Plan != nil:
			r.plan = report.Plan
		case report.Refusal != nil:
			r.refusal = report.Refusal
		case report.Job != 0:
			r.job = report.Job
		}
	}
	return r, err
}

// submitted returns the job that sbatch has printed, or 0.
func submitted(output string) int64 {
	fields := strings.Fields(output)
	for i := len(fields) - 1; i >= 0; i-- {
		if job, ok := Number(fields[i]); ok {
			return job
		}
	}
	return 0
}

// troubles are parts of what sbatch says of another trouble than that with its options and script.
var troubles = []string{"fatal:", "submission failed", "database", "onnection", "onnect to", "plugin", "cli_filter", "spank", "slurm.conf"}

func isTrouble(line string) bool {
	return slices.ContainsFunc(troubles, func(part string) bool { return strings.Contains(line, part) })
}

// maxSaid is how much of what sbatch says is told, in bytes.
const maxSaid = 2000

// failure returns why sbatch has failed, in its own words if it has any.
func failure(ctx context.Context, err error, said string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("sbatch did not end in time (%w)", ctx.Err())
	}
	var lines []string
	misuse := true
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if text, filters := strings.CutPrefix(line, "varq: "); filters {
			misuse = misuse && strings.HasPrefix(text, "--") // the option comes first
		}
		for _, prefix := range []string{"sbatch: error: ", "sbatch: ", "varq: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" && line != "cli_filter plugin terminated with error" {
			misuse = misuse && !isTrouble(line)
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return fmt.Errorf("sbatch: %w", err)
	}
	text := strings.Join(lines, "; ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "..."
	}
	if misuse {
		return &Misuse{text}
	}
	return fmt.Errorf("sbatch: %s", text)
}

// Number reads the number of the job that sbatch --parsable has submitted from what it has printed:
// the cluster may come after it. It returns false if there is none.
func Number(printed string) (job int64, ok bool) {
	number, _, _ := strings.Cut(strings.TrimSpace(printed), ";")
	job, err := strconv.ParseInt(number, 10, 64)
	return job, err == nil && job > 0
}
