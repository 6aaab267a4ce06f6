package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// submitted are the jobs of a flow that were submitted.
type submitted struct {
	env     *cli.Env
	order   *sbatch.Order // of varq every, or nil
	numbers map[string]int64
	jobs    []int64 // in the order of the file's jobs
	held    []int64 // those of them that wait until the flow is promised
}

// shell returns a command line of the user's, with further arguments where it has "$@". What varq
// every orders is not for it, and no signal to this command's process group.
func shell(ctx context.Context, env *cli.Env, line string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", line, "varq"}, args...)...)
	cmd.Env = append(sbatch.Without(os.Environ()), "PATH="+env.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// submit submits the jobs of a flow, as a shell would run sbatch. If hold is true, those that wait
// for no other are held. If one is not taken, or the command is interrupted, those before it are
// cancelled. The user reads what sbatch says.
func submit(ctx context.Context, env *cli.Env, f *File, hold bool) (*submitted, error) {
	order, err := sbatch.ReadOrder(os.Environ())
	if err != nil {
		return nil, err
	}
	s := &submitted{env: env, order: order, numbers: map[string]int64{}}
	for i := range f.Jobs {
		if err := s.submit(&f.Jobs[i], hold); err != nil || ctx.Err() != nil {
			return nil, s.undo(ctx, err)
		}
	}
	return s, nil
}

// submitting bounds how long one job is submitted. An sbatch that is stopped may have submitted it.
const submitting = 5 * time.Minute

// telling is a command line that submits a job for varq every, and tells of it: also if varq flow
// is killed meanwhile. Its parts are that of sbatch and the name of a file of sbatch.Reports.
const telling = `{ number=$(%s
) && echo "$number" && printf '{"job":%%s}\n' "${number%%%%;*}" >> %s; }`

// submit submits a job, also if the command itself is being stopped.
func (s *submitted) submit(j *Job, hold bool) error {
	own, holds := []string{"--parsable", "--job-name=" + j.Name}, false
	if dependency := j.dependency(s.numbers); dependency != "" {
		own = append(own, "--dependency="+dependency)
	} else if hold {
		own, holds = append(own, "--hold"), true
	}
	ctx, done := context.WithTimeout(context.Background(), submitting)
	defer done()
	line := `exec sbatch "$@" ` + j.Sbatch
	if s.order != nil {
		line = fmt.Sprintf(telling, line, cli.Quote(s.order.Report))
	}
	cmd := shell(ctx, s.env, line, own...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, s.env.Stderr
	err := cmd.Run()
	id, read := sbatch.Number(out.String())
	if read { // also if it could not be told of
		s.numbers[j.Name] = id
		s.jobs = append(s.jobs, id)
		if holds {
			s.held = append(s.held, id)
		}
	} else if err == nil {
		err = fmt.Errorf("it has printed %.40q instead of a job's number", out.String())
	}
	if err != nil {
		return fmt.Errorf("job %s is not submitted: sbatch: %w", j.Name, err)
	}
	return nil
}

// stopping bounds how long the jobs of a flow are cancelled.
const stopping = time.Minute

// cancel cancels the jobs, also if the command itself is being stopped.
func (s *submitted) cancel() error {
	if len(s.jobs) == 0 {
		return nil
	}
	ctx, done := context.WithTimeout(context.Background(), stopping)
	defer done()
	if out, err := shell(ctx, s.env, `exec scancel "$@"`, cli.Numbers(s.jobs)...).CombinedOutput(); err != nil {
		return fmt.Errorf("the jobs that were submitted before it are still there: scancel %s: %w: %s", strings.Join(cli.Numbers(s.jobs), " "), err, bytes.TrimSpace(out))
	}
	return s.order.Tell(sbatch.Report{Cancelled: true})
}

// undo cancels the jobs after an error, or as ctx is done, and returns which.
func (s *submitted) undo(ctx context.Context, why error) error {
	failed := s.cancel()
	switch {
	case ctx.Err() == nil:
		return errors.Join(why, failed)
	case failed != nil:
		return fmt.Errorf("%w: %w", cli.ErrInterrupted, failed)
	}
	return fmt.Errorf("%w: the jobs that were submitted are cancelled again", cli.ErrInterrupted)
}

// release lets the jobs go that are held.
func (s *submitted) release(ctx context.Context) error {
	if len(s.held) == 0 {
		return nil
	}
	list := strings.Join(cli.Numbers(s.held), ",")
	if out, err := shell(ctx, s.env, `exec scontrol release "$@"`, list).CombinedOutput(); err != nil {
		return fmt.Errorf("the flow is promised, but its first jobs are held: 'scontrol release %s' lets them go: %w: %s", list, err, bytes.TrimSpace(out))
	}
	return nil
}
