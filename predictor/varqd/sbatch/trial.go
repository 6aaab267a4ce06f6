package sbatch

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Trial is a job that is submitted on trial to a cluster without varqd. Slurm alone sees to it that
// it does not start before it is taken, and that nothing is left of one that nobody takes, whoever
// has died. To take it is one change, which Slurm makes wholly or not at all, and of a pending job
// alone.
//
// For it has a deadline (sbatch --deadline) by which it must have ended, and cannot end by then as
// it is. There are two ways, since Slurm 22.05 cancels no held job that is past its deadline, and
// Slurm 24.11 accepts no job that would miss it:
//   - Its begin time is so late that it cannot end in time. Slurm starts no such job, and cancels
//     it at that time. To take it is to change its begin time, which its user may; she may not
//     change the deadline.
//   - Where Slurm accepts no such job, it is held, and Slurm cancels it when it cannot end in time
//     any more. To take it is to release it.
type Trial struct {
	Plan string // by which the job is recognized in Slurm's queue, as that of a promise is
	// Start is when the job is to begin, Unix seconds, and Limit its time limit. If it has not
	// started Late seconds after that, Slurm cancels it.
	Start, Limit, Late int64
	// Nodes and Partition are the job's, whatever the user's options say, if they are not 0 or
	// empty.
	Nodes     int32
	Partition string
	// Comment is the user's own, and Arguments as of Description.
	Comment   string
	Arguments int
	// Env is added to sbatch's environment.
	Env []string

	held bool // the second way
}

// slack is by how many seconds a job on trial would begin too late.
const slack = 30

// deadline is when the job must have ended, and never the begin time of a job that cannot. Slurm
// refuses a begin time after the deadline, and no limit is less than a minute.
func (t *Trial) deadline() int64 { return t.Start + t.Late + t.minutes() }
func (t *Trial) never() int64    { return t.Start + t.Late + slack }

// minutes is the limit as Slurm counts it, in seconds.
func (t *Trial) minutes() int64 { return (t.Limit + 59) / 60 * 60 }

// options are those that make the job one on trial.
func (t *Trial) options() []string {
	options := []string{"--begin=" + moment(t.never())}
	if t.held {
		options = []string{"--hold", "--begin=" + moment(t.Start)}
	}
	options = append(options, "--deadline="+moment(t.deadline()), "--time="+slurmtime.FormatDuration(t.Limit),
		"--comment="+strings.TrimSpace(t.Comment+" "+api.CommentPrefix+t.Plan))
	if t.Nodes != 0 {
		options = append(options, "--nodes="+strconv.Itoa(int(t.Nodes)))
	}
	if t.Partition != "" {
		options = append(options, "--partition="+t.Partition)
	}
	return options
}

// tooLate is what Slurm says of a job that cannot end before its deadline, and of other time limits
// that it does not take.
const tooLate = "Requested time limit is invalid"

// Try submits the job on trial. A failure may leave it in the queue, where it cannot start.
func (p *Program) Try(ctx context.Context, t *Trial) (job int64, err error) {
	t.held = false
	if job, err = p.try(ctx, t); err != nil && strings.Contains(err.Error(), tooLate) {
		t.held = true
		job, err = p.try(ctx, t)
	}
	return job, err
}

// timedOut is what sbatch says if slurmctld has taken the request, and not answered.
const timedOut = "timed out"

// unanswered is the error of an sbatch that has not heard what becomes of its job.
type unanswered struct{ error }

func (u *unanswered) Unwrap() error { return u.error }

// Unanswered tells of an error of Try whether Slurm may accept the job still, even if it does not
// show it yet.
func Unanswered(err error) bool {
	var u *unanswered
	return errors.As(err, &u)
}

// CancelledBy returns when Slurm cancels the job, Unix seconds, if nobody takes it. It looks for
// such jobs every now and then.
func (t *Trial) CancelledBy() int64 { return t.never() }

// try submits the job in one of the two ways.
func (p *Program) try(ctx context.Context, t *Trial) (job int64, err error) {
	if t.Arguments > len(p.Args) {
		return 0, fmt.Errorf("sbatch has %d words, and not %d", len(p.Args), t.Arguments)
	}
	// The last option counts, and what follows the script's name is the script's.
	script := len(p.Args) - t.Arguments
	args := append(append(append([]string{}, p.Args[:script]...), t.options()...), p.Args[script:]...)
	stdout, stderr, err := p.execute(ctx, args, t.Env...)
	if err != nil {
		var exit *exec.ExitError
		answered := errors.As(err, &exit) && exit.Exited() && ctx.Err() == nil && !strings.Contains(stderr, timedOut)
		if err = failure(ctx, err, stderr); !answered {
			err = &unanswered{err}
		}
		return 0, err
	}
	if job = submitted(stdout); job != 0 {
		return job, nil
	}
	if job, err = p.find(ctx, t.Plan); err != nil { // with --quiet sbatch says nothing
		return 0, err
	}
	if job == 0 {
		return 0, errors.New("sbatch does not tell the job's number")
	}
	return job, nil
}

// ErrOver is the error of a job on trial that is over without having started.
//
//nolint:staticcheck // Slurm is a name
var ErrOver = errors.New("Slurm has cancelled the job, as it was not confirmed in time")

// Take lets a job on trial start at its time. It may be repeated.
func (p *Program) Take(ctx context.Context, t *Trial, job int64) error {
	id := strconv.FormatInt(job, 10)
	switch s, err := p.look(ctx, t.Plan, id); {
	case err != nil:
		return err
	case s.nodes != "": // which it has only if it was taken
		return nil
	case s.state != "PENDING":
		return ErrOver
	}
	change := []string{"update", "JobId=" + id, "StartTime=" + moment(t.Start)}
	if t.held {
		change = []string{"release", id}
	}
	_, err := p.Control(ctx, "scontrol", change...)
	return err
}

// Drop cancels a job on trial, unless it has started, and returns whether it has. job is 0 if it is
// not known; the job may then be in the queue or not.
func (p *Program) Drop(ctx context.Context, t *Trial, job int64) (started bool, err error) {
	if job == 0 {
		if job, err = p.find(ctx, t.Plan); job == 0 || err != nil {
			return false, err
		}
	}
	return p.cancel(ctx, t.Plan, job, t.never())
}

// find returns the job of a plan, 0 if Slurm has none.
func (p *Program) find(ctx context.Context, plan string) (job int64, err error) {
	out, err := p.Control(ctx, "squeue", "--noheader", "--me", "--states=all", "--format=%i|%k")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		id, comment, _ := strings.Cut(strings.TrimRight(line, "\n"), "|")
		if named, ok := api.PlanInComment(comment); ok && named == plan {
			return strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		}
	}
	return 0, nil
}
