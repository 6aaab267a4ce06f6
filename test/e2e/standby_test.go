package e2e

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestStandBy: a varqd that stands by takes over from one that is killed, from one that hangs and
// is then killed, and from one that is stopped, while users submit. All that they were promised is
// there and is kept, and who was promised nothing was told why.
func TestStandBy(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	crowd := &crowd{s: s, promised: map[string][]int64{}}
	s.InTime(t, lead, func(lead time.Duration) bool {
		file, out := script(t, s, "standby", "", "")
		id, promised, at := reserveIn(t, s, lead, "alice", "--prob=0.6", "--time=5", file)
		for _, fails := range []struct {
			how string
			do  func() error
		}{
			{"is killed", s.KillVarqd},
			{"hangs, goes on, hangs again, and is killed then", func() error {
				resume := stopInPlace(t, s)
				before := crowd.size()
				resume()
				eventually(t, "the one that hung promises again", func() bool { return crowd.size() > before })
				stopInPlace(t, s)
				return s.KillVarqd()
			}},
			{"is stopped", s.StopVarqd},
		} {
			if err := s.StandBy(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := crowd.size()
			crowd.submitWhile(t, func() {
				eventually(t, "users are promised something", func() bool { return crowd.size() > before })
				if err := fails.do(); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if err := s.AwaitTakeover(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.Logf("of one that %s another has taken over in %.1f s", fails.how, time.Since(began).Seconds())
			})
		}
		r := settled(t, s, "alice", id, api.StateKept, api.StateMissed)
		if r.ID != promised.ID || r.BeginBy != at || r.Prob != promised.Prob {
			t.Errorf("promised %+v, settled %+v", promised, r)
		}
		if r.State == api.StateKept {
			wantStart(t, out, at)
		}
		return r.State == api.StateKept
	})
	crowd.check(t)
}

// stopInPlace makes varqd hang until resume is called. It keeps its ledger, so that nobody takes
// over; a submission is refused meanwhile.
func stopInPlace(t *testing.T, s *site.Site) (resume func()) {
	t.Helper()
	if err := syscall.Kill(s.VarqdPID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), "varq", "varqd", "--config", s.Config()); err != nil || r.Code == 0 || !strings.Contains(r.Stderr, "another varqd uses it") {
		t.Errorf("beside a varqd that hangs: %+v, %v", r, err)
	}
	out, err := s.Prepare(t.Context(), "alice", "sbatch", "--begin-by=now+6hours", "--time=5", "--job-name=hangs", "--wrap=true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "varqd is not reachable") || len(jobs(t, s, "alice", "hangs")) != 0 {
		t.Errorf("a submission while varqd hangs: %v, %s", err, out)
	}
	return func() {
		if err := syscall.Kill(s.VarqdPID(), syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

// crowd is what users were promised.
type crowd struct {
	s        *site.Site
	mu       sync.Mutex
	promised map[string][]int64 // the jobs, by user
	refused  int
}

// size is the number of promises.
func (c *crowd) size() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ids := range c.promised {
		n += len(ids)
	}
	return n
}

// submitWhile has users submit again and again while do runs, and once more afterwards.
func (c *crowd) submitWhile(t *testing.T, do func()) {
	var over atomic.Bool
	var submitting sync.WaitGroup
	for _, user := range []string{"alice", "bob"} {
		submitting.Go(func() {
			for last := false; !last; {
				last = over.Load()
				c.submit(t, user)
				time.Sleep(200 * time.Millisecond)
			}
		})
	}
	defer submitting.Wait()
	defer over.Store(true)
	do()
}

func (c *crowd) submit(t *testing.T, user string) {
	out, err := c.s.Prepare(t.Context(), user, "sbatch", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=crowd", "--wrap=true").CombinedOutput()
	c.mu.Lock()
	defer c.mu.Unlock()
	said := string(out)
	if errors.As(err, new(*exec.ExitError)) && strings.Contains(said, "varq: ") {
		c.refused++
		return
	}
	_, number, _ := strings.Cut(said, "Submitted batch job ")
	id, nan := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || nan != nil || !strings.Contains(said, "varq: promised") {
		t.Errorf("%s's submission: %v, %s", user, err, said)
		return
	}
	c.promised[user] = append(c.promised[user], id)
}

// check checks that the jobs of promises are in the queue, and no others, and that varqd knows all
// promises.
func (c *crowd) check(t *testing.T) {
	t.Helper()
	t.Logf("%d submissions were promised something, and %d were refused", c.size(), c.refused)
	for user, ids := range c.promised {
		if queued := jobs(t, c.s, user, "crowd"); len(queued) != len(ids) {
			t.Errorf("%s was promised %d times, and has the jobs %v", user, len(ids), queued)
		}
		for _, id := range ids {
			if r, err := c.s.Reservation(t.Context(), user, id); err != nil || r.State != api.StatePending {
				t.Errorf("%s's job %d: %+v, %v", user, id, r, err)
			}
		}
	}
}
