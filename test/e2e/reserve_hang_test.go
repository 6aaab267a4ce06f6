package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// hang is for how long TestReserveWhileSlurmHangs stops slurmctld: several requests time out
// meanwhile.
const hang = 25 * time.Second

// TestReserveWhileSlurmHangs: slurmctld stops once three jobs have been submitted that are not all
// confirmed, or not moved to their begin time. Soon after it goes on they are, though varqd looks
// at the queue no more often than by default, and their promises are kept.
func TestReserveWhileSlurmHangs(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix()), DefaultWatch: true})
	script := filepath.Join(s.JobDir(), "hang.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#SBATCH --output=/dev/null\nsleep 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.InTime(t, 100*time.Second, func(lead time.Duration) bool {
		latest := time.Now().Add(lead)
		jobs := reserveWhileSlurmHangs(t, s, latest, script)
		back := time.Now()
		for _, job := range jobs {
			for !moved(t, s, job) {
				if took := time.Since(back); took > s.Paced(15*time.Second) {
					t.Fatalf("%v after Slurm is back, job %d has not been moved", took, job)
				}
				time.Sleep(200 * time.Millisecond)
			}
		}
		t.Logf("%v after Slurm is back, all of %v have been moved", time.Since(back), jobs)
		if len(jobs) == 0 || time.Until(latest) < 5*time.Second {
			return false
		}
		for _, job := range jobs {
			if r, err := s.WaitSettled(t.Context(), "alice", job, api.StateKept, api.StateMissed, api.StateCancelled); err != nil || r.State != api.StateKept {
				t.Errorf("job %d: %v, %+v", job, err, r)
			}
		}
		wantNoneLeft(t, s)
		return true
	})
	for _, after := range []time.Duration{200, 300, 400} {
		reserveTooLate(t, s, after*time.Millisecond, script)
	}
}

// wantNoneLeft fails if jobs are left in the queue for long.
func wantNoneLeft(t *testing.T, s *site.Site) {
	t.Helper()
	began := time.Now()
	for left := "all"; left != ""; time.Sleep(200 * time.Millisecond) {
		if time.Since(began) > s.Paced(time.Minute) {
			t.Fatalf("jobs that nobody has reserved are left: %s", left)
		}
		left = mustRun(t, s, "root", "squeue", "--noheader").Stdout
	}
}

// reserveTooLate reserves a job, and stops slurmctld soon after for longer than the deadline is
// away. Nothing is told to be reserved by a time that has passed.
func reserveTooLate(t *testing.T, s *site.Site, after time.Duration, script string) {
	t.Helper()
	const lead = 8 * time.Second
	latest := time.Now().Add(lead)
	var o broker.Outcome
	var told time.Time
	var client sync.WaitGroup
	client.Go(func() {
		r, err := s.Run(t.Context(), "alice", "varq", "reserve", "--json", "--latest="+latest.Format("2006-01-02T15:04:05"), "--best-effort",
			"--min-prob=.3", "--slots=1", "--patience=20s", "--", "sbatch", "-N1", "-t5", script)
		told = time.Now()
		if err == nil && r.Stdout != "" {
			err = json.Unmarshal([]byte(r.Stdout), &o)
		}
		t.Logf("slurmctld stopped after %v: exit code %d, %v: %s", after, r.Code, err, r.Stderr)
	})
	time.Sleep(after)
	if err := s.SignalDaemon(cluster.Slurmctld, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(lead + time.Second)
	if err := s.SignalDaemon(cluster.Slurmctld, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	client.Wait()
	if o.Taken != nil && told.Unix() > o.Taken.Start+1 {
		t.Errorf("reserved by %v, as is told at %v", time.Unix(o.Taken.Start, 0), told)
	}
	wantNoneLeft(t, s)
}

// moved reports whether a job waits for a time that is not far away, or has started.
func moved(t *testing.T, s *site.Site, job int64) bool {
	t.Helper()
	fields, err := s.Job(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	eligible, err := time.ParseInLocation("2006-01-02T15:04:05", fields["EligibleTime"], time.Local)
	if err != nil {
		t.Fatal(err)
	}
	return time.Until(eligible) < time.Hour
}

// boundJob is what varqd logs when it finds the job of a promise.
var boundJob = regexp.MustCompile(`msg=bound plan=\w+ job=(\d+)`)

// reserveWhileSlurmHangs reserves three jobs at once, with slurmctld stopped for a while once all
// are bound. It returns the jobs that were reserved. They may not be three if the deadline was too
// near.
func reserveWhileSlurmHangs(t *testing.T, s *site.Site, latest time.Time, script string) (jobs []int64) {
	t.Helper()
	bound := map[string]bool{}
	note := func() int {
		for _, match := range boundJob.FindAllStringSubmatch(s.VarqdLog(), -1) {
			bound[match[1]] = true
		}
		return len(bound)
	}
	before := note()
	outcomes := make([]broker.Outcome, 3)
	var clients sync.WaitGroup
	for i := range outcomes {
		clients.Go(func() {
			r, err := s.Run(t.Context(), "alice", "varq", "reserve", "--json", "--latest="+latest.Format("2006-01-02T15:04:05"), "--best-effort", "--prefer=-end",
				"--min-prob=.5", "--sizes=1:5", "--slots=2", "--gap=5s", "--patience=30s", "--", "sbatch", script)
			if err == nil && r.Stdout != "" {
				err = json.Unmarshal([]byte(r.Stdout), &outcomes[i])
			}
			t.Logf("client %d, after %v: exit code %d, %v: %s", i, r.Took, r.Code, err, r.Stderr)
		})
	}
	for note() < before+len(outcomes) && time.Now().Before(latest) {
		time.Sleep(time.Millisecond)
	}
	if err := s.SignalDaemon(cluster.Slurmctld, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(hang)
	if err := s.SignalDaemon(cluster.Slurmctld, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	for _, o := range outcomes {
		if o.Taken != nil {
			jobs = append(jobs, o.Taken.Job)
		}
	}
	return jobs
}
