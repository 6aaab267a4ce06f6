package filter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Varqd is what the helper needs of varqd. Package client implements it.
type Varqd interface {
	Plan(ctx context.Context, r api.PlanRequest) (api.PlanAnswer, error)
	Quote(ctx context.Context, r api.PlanRequest) (api.PlanAnswer, error)
	Size(ctx context.Context, r api.SizeRequest) (api.SizeAnswer, error)
	Bind(ctx context.Context, b api.Binding) error
	Cancel(ctx context.Context, c api.Cancellation) error
	Reservations(ctx context.Context, q api.ReservationsQuery) ([]api.Reservation, error)
}

// Helper stands beside one sbatch, srun or salloc. It plans the job, and then waits until
// Slurm has accepted it, or started it for an srun. If the command ends before it
// has a job, the helper takes the promise back.
type Helper struct {
	// Orders are lines from varq.lua: "plan COMMAND", and "job ID" once Slurm has accepted
	// the job. They end when the command does.
	Orders io.Reader
	// Options returns the command's options, in the JSON of Slurm's json_cli_options, and its
	// command line; see Read.
	Options func() ([]byte, error)
	// Script returns what is in the file of a batch script, MaxScript bytes at most.
	Script func(path string) ([]byte, error)
	// Environment is the command's, as os.Environ has it.
	Environment []string
	// Cluster returns the name of the host's cluster, or "" if that is not known.
	Cluster func() string
	// Quiet reports whether the site wants nothing said of promises that are made; nil if it has no
	// say.
	Quiet func() bool
	// Answer takes the lines for varq.lua.
	Answer io.WriteCloser
	// User takes messages for the user, if the command itself waits for its job.
	User io.Writer
	// Leave releases the command's standard error, for which its callers may wait.
	Leave func()
	Dial  func() (Varqd, error)
	Now   func() time.Time
	Zone  *time.Location
	// Pause is the time between two looks at varqd's reservations, and between two attempts
	// to take a promise back.
	Pause time.Duration
}

// Words of the orders.
const (
	orderPlan = "plan "
	orderJob  = "job "
)

// attempts bounds how often the helper tries to take a promise back from a varqd that does
// not answer. After that, varqd closes it some time after its begin time.
const attempts = 12

// Run does what the orders say. It returns when they have ended, or when the promise has its
// job.
func (h *Helper) Run(ctx context.Context) error {
	varqd, err := h.Dial() // while the command still reads its options
	orders := bufio.NewScanner(h.Orders)
	if !orders.Scan() {
		return nil
	}
	command, ok := strings.CutPrefix(orders.Text(), orderPlan)
	if !ok {
		return fmt.Errorf("unknown order %.40q", orders.Text())
	}
	var s *Submission
	var plan *api.Plan
	if err == nil {
		s, plan, err = h.plan(ctx, varqd, command)
	}
	if err != nil {
		_ = WriteError(h.Answer, err) // fails only if the command has ended
		if s != nil {
			_ = s.order.Tell(sbatch.Report{Error: err.Error()})
		}
	}
	promised := plan != nil && plan.ID != ""
	if promised && s.settles {
		defer h.Answer.Close()
	} else if err := h.Answer.Close(); err != nil && plan == nil {
		return err
	}
	if !promised {
		return nil
	}
	return h.accompany(ctx, varqd, s, plan, orders)
}

// plan asks varqd for a plan or a quote, and writes the answer. The plan is nil if there is
// none.
func (h *Helper) plan(ctx context.Context, varqd Varqd, command string) (*Submission, *api.Plan, error) {
	text, err := h.Options()
	if err != nil {
		return nil, nil, err
	}
	if err := h.whole(text, command); err != nil {
		return nil, nil, err
	}
	s, err := Read(text, command, h.Environment, h.Now().Unix(), h.Zone, h.Cluster)
	if err != nil {
		return nil, nil, err
	}
	if s.order != nil && s.order.Describe {
		return s, nil, h.describe(s)
	}
	if s.Size != "" {
		return s, nil, h.size(ctx, varqd, s)
	}
	s.Quiet = s.Quiet || !s.Quote && quiet(h.Environment, h.Quiet)
	s.Waits, s.Early = command != "sbatch", command == "salloc"
	ask := varqd.Plan
	if s.Quote {
		ask = varqd.Quote
	}
	answer, err := ask(ctx, s.Request)
	if errors.Is(err, client.ErrUnreachable) {
		return s, nil, fmt.Errorf("nothing was submitted: %w; promises made before are kept, and held work starts on time; try again later, or submit without varq's options (administrators: systemctl status varqd)", err)
	}
	if errors.Is(err, api.ErrUnavailable) {
		return s, nil, fmt.Errorf("nothing was submitted: %w; try again in a minute, or submit without varq's options", err)
	}
	if err != nil {
		return s, nil, err
	}
	if err := s.order.Tell(sbatch.Report{Plan: answer.Plan, Refusal: answer.Refusal}); err != nil {
		return s, answer.Plan, err
	}
	err = s.Write(h.Answer, answer)
	if answer.Plan != nil {
		return s, answer.Plan, nil // the orders tell whether the command has ended
	}
	return s, nil, err
}

// accompany waits for the job of a plan. srun tells its job only when it has started, and salloc
// when Slurm has accepted it or, in some versions, when it has started; so, for them, accompany
// also looks whether varqd has found the job in the queue. Their users wait before a terminal,
// and are told until when the work is held.
func (h *Helper) accompany(ctx context.Context, varqd Varqd, s *Submission, plan *api.Plan, orders *bufio.Scanner) error {
	jobs := make(chan string, 1)
	go func() {
		defer close(jobs)
		for orders.Scan() {
			if job, ok := strings.CutPrefix(orders.Text(), orderJob); ok {
				jobs <- job
				return
			}
		}
	}()
	var look <-chan time.Time
	if s.Waits {
		ticker := time.NewTicker(h.Pause)
		defer ticker.Stop()
		look = ticker.C
	} else {
		h.Leave()
	}
	known, refusal := false, error(nil) // varqd knows the job, and why nothing is promised about it
	for {
		select {
		case job, accepted := <-jobs:
			switch {
			case accepted && s.settles:
				return h.settle(ctx, varqd, s, plan, job)
			case !accepted && !known:
				h.Leave()
				return h.takeBack(ctx, varqd, plan.ID)
			case !accepted:
				h.Leave()
				return nil
			}
			var err error
			if !known {
				err = s.bind(ctx, varqd, plan.ID, job)
				h.tellOf(s, plan, err)
			}
			if refusal == nil && !errors.Is(err, api.ErrConflict) {
				h.tell(s, s.holding(plan, job, h.Now().Unix()))
			}
			h.Leave()
			return err
		case <-look:
			if known, refusal = seen(ctx, varqd, plan.ID); known {
				h.tellOf(s, plan, refusal)
				look = nil
			}
		}
	}
}

// tellOf tells what is promised about the job of a plan: nothing if the error is an
// api.ErrConflict, which says why.
func (h *Helper) tellOf(s *Submission, plan *api.Plan, err error) {
	if errors.Is(err, api.ErrConflict) {
		h.tell(s, []string{"no promise: " + slurmtime.InZone(err.Error(), s.zone)})
		return
	}
	h.tell(s, s.says(plan))
}

// settle binds the job of a plan while the command waits, and writes what is promised now that the
// job is known.
func (h *Helper) settle(ctx context.Context, varqd Varqd, s *Submission, plan *api.Plan, job string) error {
	bound := s.bind(ctx, varqd, plan.ID, job)
	var l lines
	if errors.Is(bound, api.ErrConflict) {
		l.add(wordSay, "no promise: %s", slurmtime.InZone(bound.Error(), s.zone))
	} else {
		said := s.says(plan)
		if list, err := varqd.Reservations(ctx, api.ReservationsQuery{}); err == nil && len(said) > 0 {
			for i := range list {
				if r := &list[i]; r.ID == plan.ID && r.Note != "" {
					said = append(said, slurmtime.InZone(r.Note, s.zone))
				}
			}
		}
		if bound != nil && len(said) > 0 {
			said = append(said, fmt.Sprintf("the site may have changed the job, which varqd has not seen yet: varq status %s tells what is promised about it", job))
		}
		for _, line := range said {
			l.add(wordSay, "%s", line)
		}
	}
	return errors.Join(bound, l.write(h.Answer))
}

// tell tells lines to the user of a command that waits for its job. To others varq.lua tells
// what is promised.
func (h *Helper) tell(s *Submission, lines []string) {
	if !s.Waits {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(h.User, "varq: "+line)
	}
}

func (s *Submission) bind(ctx context.Context, varqd Varqd, plan, job string) error {
	id, err := strconv.ParseInt(job, 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is not a job's number", job)
	}
	if err := s.order.Tell(sbatch.Report{Job: id}); err != nil {
		return err
	}
	return varqd.Bind(ctx, api.Binding{Plan: plan, Job: id})
}

// seen reports whether varqd knows the job of the plan. If nothing is promised about the job, the
// error is an api.ErrConflict that says why.
func seen(ctx context.Context, varqd Varqd, plan string) (known bool, refusal error) {
	list, err := varqd.Reservations(ctx, api.ReservationsQuery{})
	if err != nil {
		return false, nil
	}
	for i := range list {
		switch r := &list[i]; {
		case r.ID != plan:
		case r.Job != 0:
			return true, nil
		case r.State == api.StateCancelled && r.Note != "":
			return true, api.Fault(api.ErrConflict, r.Note)
		}
	}
	return false, nil
}

func (h *Helper) takeBack(ctx context.Context, varqd Varqd, plan string) error {
	for attempt := 1; ; attempt++ {
		err := varqd.Cancel(ctx, api.Cancellation{Plan: plan})
		if !errors.Is(err, client.ErrUnreachable) && !errors.Is(err, api.ErrUnavailable) || attempt == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(h.Pause):
		}
	}
}

// describe answers an order that asks for the job's request alone.
func (h *Helper) describe(s *Submission) error {
	if err := s.order.Tell(sbatch.Report{Request: &s.Request, Parsable: s.parsable, Notes: s.notes, Comment: s.comment, Arguments: s.arguments}); err != nil {
		return err
	}
	var l lines
	l.add(wordRefuse, "nothing is submitted, as varq reserve only asks what the job needs")
	return l.write(h.Answer)
}
