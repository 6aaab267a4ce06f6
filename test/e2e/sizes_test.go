package e2e

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// sizes: a job that can have several sizes gets the one that its user prefers of those that can be
// promised, and is told which.
func sizes(t *testing.T, s *site.Site) {
	script := filepath.Join(s.JobDir(), "sizes.sh")
	write := "#!/bin/sh\n#SBATCH --nodes=1 --time=5:00:00\necho nodes=$VARQ_NODES time=$VARQ_TIME site=$VARQ_SITE slurm=$SLURM_JOB_NUM_NODES\nsrun sh -c 'echo step nodes=$VARQ_NODES' | sort -u\n"
	if err := os.WriteFile(script, []byte(write), 0o755); err != nil {
		t.Fatal(err)
	}
	refused, err := s.Run(t.Context(), "alice", "sbatch", "-N4", "--begin-by=now+1hour", "--sizes=2:30,4:20", script, "-t1")
	if want := "--nodes does not go together with --sizes"; err != nil || refused.Code == 0 || !strings.Contains(refused.Stderr, want) || strings.Contains(refused.Stderr, "--time does") {
		t.Errorf("%v, %+v; wanted %s", err, refused, want)
	}
	s.InTime(t, 40*time.Second, func(lead time.Duration) bool {
		r := mustRunBy(t, s, "alice", "sbatch", func() []string {
			option, _ := deadlineIn(lead)
			return []string{"--parsable", "--output=sizes.out", option, "--prob=.5", "--sizes=2:30,4:20", "--size-by=cost", script}
		})
		id, err := strconv.ParseInt(strings.TrimSpace(r.Stdout), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Stderr, "varq: not 4 nodes: running jobs and other promises") {
			// of the other tests
			mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
			return false
		}
		for _, want := range []string{"promised: running on 2 nodes for up to 00:30:00 by", "next best: 4 nodes for up to 00:20:00", "instead of --nodes=1"} {
			if !strings.Contains(r.Stderr, want) {
				t.Errorf("%s\ndoes not say %q", r.Stderr, want)
			}
		}
		if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
		return settled(t, s, "alice", id, api.StateKept, api.StateMissed).State == api.StateKept
	})
	out, err := os.ReadFile(filepath.Join(s.JobDir(), "sizes.out"))
	if want := "nodes=2 time=1800 site=lab slurm=2\nstep nodes=2\n"; err != nil || string(out) != want {
		t.Errorf("the job says %q, %v, wanted %q", out, err, want)
	}
}

// TestSizeAuto has jobs that get the size with which they are expected to end first. How long jobs
// run must be known for that, so that they have a site where nobody else's have run.
func TestSizeAuto(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 4, History: wholeNodes(site.Calm(time.Now().Unix()))})
	t.Run("idle and busy", func(t *testing.T) { sizeAuto(t, s) })
	t.Run("lock in", func(t *testing.T) {
		s.Tidy(t)
		lockIn(t, s)
	})
}

// wholeNodes returns a history in which the small jobs had all four CPUs of each of their nodes, as
// those of --exclusive have.
func wholeNodes(history iter.Seq2[workload.Job, error]) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range history {
			if j.Nodes <= 4 {
				j.CPUs = 4 * j.Nodes
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// sizeAuto: a job without a promise gets all nodes where they are idle, and one where the others
// are busy for long.
func sizeAuto(t *testing.T, s *site.Site) {
	submit := func(want string) {
		t.Helper()
		id, r, err := s.Submit(t.Context(), "alice", "--exclusive", "--size=auto", "--sizes=1:12,4:6", "--output=auto.out", "--wrap=sleep 1; echo nodes=$VARQ_NODES time=$VARQ_TIME site=$VARQ_SITE")
		if err != nil {
			t.Fatal(err)
		}
		job, err := s.Job(t.Context(), id)
		if err != nil || !strings.HasPrefix(job["NumNodes"], want) || !strings.Contains(r.Stderr, "it is expected to wait") {
			t.Fatalf("job with NumNodes=%s, wanted %s: %v\n%s", job["NumNodes"], want, err, r.Stderr)
		}
		if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile(filepath.Join(s.JobDir(), "auto.out"))
		if want := map[string]string{"1": "nodes=1 time=720 site=lab\n", "4": "nodes=4 time=360 site=lab\n"}[want]; err != nil || string(out) != want {
			t.Errorf("the job says %q, %v, wanted %q", out, err, want)
		}
	}
	submit("4")
	busy, _, err := s.Submit(t.Context(), "bob", "--exclusive", "-N3", "-t", "5:00:00", "--wrap=sleep 18000")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), busy, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	// For varqd the job that has just ended may run on for a moment.
	eventually(t, "varqd knows that one node is idle", func() bool {
		r := mustRun(t, s, "alice", "varq", "predict", "--json", "--exclusive", "-N1", "-t", "12", "--quantile=.5")
		var p api.Prediction
		if err := json.Unmarshal([]byte(r.Stdout), &p); err != nil {
			t.Fatal(err)
		}
		return p.Running == 1 && len(p.Bounds) == 1 && p.Bounds[0].Expected != nil && *p.Bounds[0].Expected < 60
	})
	submit("1")
}

// lockIn: a job whose size is not locked in gets another one while it waits, when that has become
// better, and is told what it has; one whose size is locked in keeps it.
func lockIn(t *testing.T, s *site.Site) {
	thorough.Only(t)
	ctx := t.Context()
	submit := func(user string, args ...string) int64 {
		t.Helper()
		id, r, err := s.Submit(ctx, user, args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, r.Stderr)
		}
		return id
	}
	mustState := func(id int64, state string) {
		t.Helper()
		if err := s.WaitState(ctx, id, state); err != nil {
			t.Fatal(err)
		}
	}
	first := submit("bob", "--exclusive", "-N4", "-t", "5", "--wrap=sleep 18000")
	mustState(first, "RUNNING")
	awaitLook(t, s)
	const says = "--wrap=echo nodes=$VARQ_NODES time=$VARQ_TIME tasks=$SLURM_NTASKS per=$SLURM_TASKS_PER_NODE srun=$(srun hostname | wc -l) inside=$(srun -n1 -N1 printenv VARQ_NODES)"
	sized := []string{"--exclusive", "--ntasks-per-node=2", "--error=/dev/null", "--size=auto", "--risk-aversion=0.1", "--sizes=1:12,4:6", "--comment=mine"}
	free := submit("alice", append(sized, "--lock-in=no", "--output=free.out", says)...)
	locked := submit("alice", append(sized, "--lock-in=yes", "--output=locked.out", says)...)
	field := func(id int64, name string) string {
		t.Helper()
		job, err := s.Job(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return job[name]
	}
	for _, id := range []int64{free, locked} {
		if got := field(id, "NumNodes"); got != "4-4" {
			t.Fatalf("job %d has %s nodes", id, got)
		}
	}
	if got := field(locked, "Comment"); got != "mine" {
		t.Errorf("the locked job has the comment %q", got)
	}
	// bob's long job is first in the queue, and so takes a node when the others become free.
	long := submit("bob", "--exclusive", "-N1", "-t", "5:00:00", "--wrap=sleep 18000")
	mustRun(t, s, "root", "scontrol", "update", fmt.Sprint("JobId=", long), "Priority=1000000000")
	mustRun(t, s, "bob", "scancel", fmt.Sprint(first))
	mustState(long, "RUNNING")
	mustState(free, "COMPLETED")
	out, err := os.ReadFile(filepath.Join(s.JobDir(), "free.out"))
	if want := "nodes=1 time=720 tasks=2 per=2 srun=2 inside=1\n"; err != nil || string(out) != want {
		t.Errorf("the job says %q, %v, wanted %q", out, err, want)
	}
	if state, nodes := field(locked, "JobState"), field(locked, "NumNodes"); state != "PENDING" || nodes != "4-4" {
		t.Errorf("the locked job is %s with %s nodes", state, nodes)
	}
	mustRun(t, s, "bob", "scancel", fmt.Sprint(long))
	mustState(locked, "COMPLETED")
	out, err = os.ReadFile(filepath.Join(s.JobDir(), "locked.out"))
	if want := "nodes=4 time=360 tasks=8 per=2(x4) srun=8 inside=4\n"; err != nil || string(out) != want {
		t.Errorf("the locked job says %q, %v, wanted %q", out, err, want)
	}
}
