package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// faults kills and restarts the daemons that a reservation depends on, between its
// submission and its deadline.
func faults(t *testing.T, s *site.Site) {
	var id int64
	var r api.Reservation
	s.InTime(t, lead, func(lead time.Duration) bool {
		id, r = killAndRestart(t, s, lead)
		return r.State == api.StateKept
	})

	// After an orderly restart of varqd, the ledger is the same.
	if err := s.StopVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := settled(t, s, "alice", id, api.StateKept); again.Start != r.Start || again.End != r.End {
		t.Errorf("settled %+v, after a restart %+v", r, again)
	}
}

// killAndRestart is a round of faults. The promise that it returns is missed if all that took
// longer than the lead.
func killAndRestart(t *testing.T, s *site.Site, lead time.Duration) (id int64, r api.Reservation) {
	t.Helper()
	ctx := t.Context()
	file, out := script(t, s, "faults", "", "")
	id, promised, at := reserveIn(t, s, lead, "alice", "--prob=0.6", "--time=5", file)
	if err := syscall.Kill(s.VarqdPID(), syscall.SIGHUP); err != nil { // which ends nothing
		t.Fatal(err)
	}
	mustRun(t, s, "alice", "varq", "predict", "-N1", "-t", "5")
	if err := s.KillVarqd(); err != nil {
		t.Fatal(err)
	}

	// While varqd is down, a reservation is refused, and the error names varqd.
	refused, err := s.Run(ctx, "alice", "sbatch", "--begin-by=now+1hour", "--time=5", "--job-name=down", file)
	if err != nil {
		t.Fatal(err)
	}
	if refused.Code == 0 || !strings.Contains(refused.Stderr, "varqd") {
		t.Errorf("with varqd down: exit code %d, %q", refused.Code, refused.Stderr)
	}
	if got := jobs(t, s, "alice", "down"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}
	// A job without varq's options is not affected.
	plainFile, plainOut := script(t, s, "noticesnothing", "", "")
	plainID, run, err := s.Submit(ctx, "alice", "--time=5", plainFile)
	if err != nil || run.Stderr != "" {
		t.Fatalf("%v: %q", err, run.Stderr)
	}
	if err := s.WaitState(ctx, plainID, "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if len(stamps(t, plainOut, "work")) != 1 {
		t.Error("the job without an option did not run")
	}

	if err := s.StartVarqd(ctx); err != nil {
		t.Fatal(err)
	}
	for _, d := range []cluster.Daemon{cluster.Slurmrestd, cluster.Slurmctld} {
		if err := s.Restart(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartVarqd(ctx); err != nil {
		t.Fatal(err)
	}
	r = settled(t, s, "alice", id, api.StateKept, api.StateMissed)
	if r.State == api.StateKept {
		wantStart(t, out, at)
	}
	if r.ID != promised.ID || r.BeginBy != at || r.Prob != promised.Prob {
		t.Errorf("promised %+v, settled %+v", promised, r)
	}
	return id, r
}
