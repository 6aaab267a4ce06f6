package filter

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// fakeVarqd promises everything, and records what it is told.
type fakeVarqd struct {
	mu   sync.Mutex
	told []string
	job  int64 // the plan's
	deaf int   // how many more cancellations do not reach it
}

const fakePlan = "abcdefgh2345"

func (v *fakeVarqd) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = append(v.told, fmt.Sprintf(format, args...))
}

func (v *fakeVarqd) Plan(_ context.Context, r api.PlanRequest) (api.PlanAnswer, error) {
	v.say("plan")
	hold := r.BeginBy
	if r.BestEffort {
		hold = 0
	}
	return api.PlanAnswer{Plan: &api.Plan{ID: fakePlan, BeginBy: r.BeginBy, HoldUntil: hold, OnMiss: api.OnMissRun}}, nil
}

func (v *fakeVarqd) Quote(context.Context, api.PlanRequest) (api.PlanAnswer, error) {
	v.say("quote")
	return api.PlanAnswer{Plan: &api.Plan{}}, nil
}

func (v *fakeVarqd) Size(_ context.Context, r api.SizeRequest) (api.SizeAnswer, error) {
	v.say("size by %s", r.By)
	wait := 90.
	a := api.SizeAnswer{Best: 1}
	for i, s := range r.Sizes {
		f := api.SizeForecast{Nodes: s.Nodes, Limit: s.Limit, Wait: &wait}
		if i > 1 {
			f.Wait, f.Refused = nil, "the cluster has fewer nodes"
		}
		a.Sizes = append(a.Sizes, f)
	}
	return a, nil
}

func (v *fakeVarqd) Bind(_ context.Context, b api.Binding) error {
	v.say("bind %s %d", b.Plan, b.Job)
	return nil
}

func (v *fakeVarqd) Cancel(_ context.Context, c api.Cancellation) error {
	v.say("cancel %s", c.Plan)
	if v.deaf--; v.deaf > 0 {
		return client.ErrUnreachable
	} else if v.deaf == 0 { // as varqd says of another site
		return api.Fault(api.ErrUnavailable, "site beta does not answer")
	}
	return nil
}

func (v *fakeVarqd) Reservations(context.Context, api.ReservationsQuery) ([]api.Reservation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return []api.Reservation{{Plan: api.Plan{ID: "another"}, Job: 7}, {Plan: api.Plan{ID: fakePlan}, Job: v.job}}, nil
}

// command is the other side of a helper that runs.
type command struct {
	orders *io.PipeWriter
	answer string
	left   bool
	user   strings.Builder
	done   chan error
}

// helped starts a helper with an order to plan, and returns when it has answered.
func helped(t *testing.T, v *fakeVarqd, name, options string) *command {
	t.Helper()
	orders, order := io.Pipe()
	answers, answer := io.Pipe()
	c := &command{orders: order, done: make(chan error, 1)}
	h := Helper{
		Orders: orders, Answer: answer, User: &c.user, Leave: func() { c.left = true },
		Options: func() ([]byte, error) { return []byte(options), nil },
		Script:  func(string) ([]byte, error) { return []byte("#!/bin/sh\n#SBATCH -N1\n#SBATCH hetjob\n"), nil },
		Dial:    func() (Varqd, error) { return v, nil },
		Now:     func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC, Pause: time.Second,
	}
	go func() { c.done <- h.Run(t.Context()) }()
	fmt.Fprintf(order, "plan %s\n", name)
	text, _ := io.ReadAll(answers)
	c.answer = string(text)
	return c
}

// want checks what varqd was told, once the helper has ended.
func (c *command) want(t *testing.T, v *fakeVarqd, told ...string) {
	t.Helper()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	if !slices.Equal(v.told, told) {
		t.Errorf("varqd was told %q, wanted %q", v.told, told)
	}
}

const reserves = `{"spank:begin-by":"now+1hour"}`

func TestHelperBinds(t *testing.T) {
	var v fakeVarqd
	c := helped(t, &v, "sbatch", reserves)
	if !strings.Contains(c.answer, "\nplan "+fakePlan+"\n") || !strings.Contains(c.answer, "\nsay promised: ") {
		t.Errorf("answered %q", c.answer)
	}
	fmt.Fprintln(c.orders, "job 42")
	c.want(t, &v, "plan", "bind "+fakePlan+" 42")
	if c.user.Len() > 0 || !c.left {
		t.Errorf("told the user %q, left %v", c.user.String(), c.left)
	}
}

// A command that ends without a job has its promise taken back, from a varqd that is away for a
// while, too.
func TestHelperTakesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := fakeVarqd{deaf: 2}
		c := helped(t, &v, "salloc", reserves)
		c.orders.Close()
		c.want(t, &v, "plan", "cancel "+fakePlan, "cancel "+fakePlan, "cancel "+fakePlan)
		if c.user.Len() > 0 || strings.Contains(c.answer, "promised") {
			t.Errorf("told the user %q, answered %q", c.user.String(), c.answer)
		}
	})
}

// srun and salloc wait for their job, perhaps for hours. Their users learn what is promised when
// varqd has seen the job.
func TestHelperTellsWaitingUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v fakeVarqd
		c := helped(t, &v, "srun", reserves)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c.user.Len() > 0 {
			t.Errorf("told the user %q before there is a job", c.user.String())
		}
		v.mu.Lock()
		v.job = 42
		v.mu.Unlock()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if text := c.user.String(); !strings.HasPrefix(text, "varq: promised: running by ") || strings.Count(text, "\n") != 3 || c.left {
			t.Errorf("told the user %q, left %v", text, c.left)
		}
		c.orders.Close() // interrupted in the queue: the job ends, and with it the promise
		c.want(t, &v, "plan")
	})
}

// The users of srun learn when the job has started that its work is held, and those of salloc,
// which may tell its job before that has started, that it will be; both once.
func TestHelperTellsOfHold(t *testing.T) {
	for options, told := range map[string]struct {
		known bool // varqd has seen the job in the queue before
		lines int
		until string
	}{
		`{"spank:begin-by":"uts1800003600"}`:                       {false, 4, "2027-01-15T09:00:00"},
		`{"spank:begin-by":"uts1800007200"}`:                       {true, 4, "2027-01-15T10:00:00"},
		`{"spank:begin-by":"uts1800007200","quiet":"1"}`:           {true, 0, ""},
		`{"spank:begin-by":"now+1hour","spank:best-effort":"set"}`: {false, 3, ""},
	} {
		for command, hold := range map[string]string{
			"srun":   "varq: holding until %s: job 42 has its nodes, and the work on them starts then\n",
			"salloc": "varq: once job 42 has its nodes, its work is held until %s\n",
		} {
			synctest.Test(t, func(t *testing.T) {
				var v fakeVarqd
				want := []string{"plan", "bind " + fakePlan + " 42"}
				if told.known {
					v.job, want = 42, want[:1]
				}
				last := ""
				if told.until != "" {
					last = fmt.Sprintf(hold, told.until)
				}
				c := helped(t, &v, command, options)
				time.Sleep(10 * time.Second)
				fmt.Fprintln(c.orders, "job 42")
				c.want(t, &v, want...)
				if text := c.user.String(); strings.Count(text, "\n") != told.lines || !strings.HasSuffix(text, last) || strings.Contains(text, "42") != (last != "") || !c.left {
					t.Errorf("%s %s: told the user %q, left %v", command, options, text, c.left)
				}
			})
		}
	}
}

// Without a promise there is nothing to wait for.
func TestHelperPromisesNothing(t *testing.T) {
	for options, told := range map[string][]string{
		`{"spank:begin-by":"now+1hour","test-only":"set"}`: {"quote"},
		`{"spank:prob":"0.9"}`:                             nil,
	} {
		var v fakeVarqd
		helped(t, &v, "sbatch", options).want(t, &v, told...)
	}
}

// busyVarqd has no answer yet.
type busyVarqd struct{ fakeVarqd }

func (*busyVarqd) Plan(context.Context, api.PlanRequest) (api.PlanAnswer, error) {
	return api.PlanAnswer{}, api.Fault(api.ErrUnavailable, "varqd has just started and reads its past (40 %)")
}

// Whoever has no answer learns that nothing was submitted, and what to do.
func TestNoAnswerYet(t *testing.T) {
	answer, _ := ordered(t, sbatch.Order{}, `{"spank:begin-by":"now+1hour"}`, &busyVarqd{}, "plan sbatch\n")
	const want = "refuse nothing was submitted: varqd has just started and reads its past (40 %); try again in a minute, or submit without varq's options\nend\n"
	if answer != want {
		t.Errorf("got %q", answer)
	}
}
