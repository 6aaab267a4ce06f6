package e2e

import (
	"context"
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
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// brief is the past of site.Calm, but two in five jobs run for some seconds, and none for much
// longer than four minutes.
func brief() iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			j.End = j.Start + 5 + j.ID%5
			if j.ID%5 > 1 {
				j.End += 10 * (j.ID / 5 % 25)
			}
			j.Limit = max(j.Limit, 900)
			if !yield(j, err) {
				return
			}
		}
	}
}

// finishBy returns --finish-by for a time from now, and that time in Unix seconds.
func finishBy(lead time.Duration) (option string, at int64) {
	at = time.Now().Add(lead).Unix()
	return "--finish-by=" + time.Unix(at, 0).Format("2006-01-02T15:04:05"), at
}

// TestFinish promises when jobs will have ended.
func TestFinish(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 2, History: brief(), SlurmConf: "SlurmdTimeout=40\n"})
	ctx := t.Context()
	notices := filepath.Join(s.JobDir(), "notices")
	configure(t, s, "notices:\n  command: /usr/bin/tee -a "+notices+"\n")

	// A promise is kept: the job is submitted at once, as it is.
	file, out := script(t, s, "finish", "", "sleep 2")
	option, at := finishBy(s.Paced(5 * time.Minute))
	id, promised := reserve(t, s, "alice", option, "--prob=0.8", "--checkpoint-interval=1m", "--time=15", file)
	if promised.FinishBy != at || promised.BeginBy != 0 || promised.TimeLimit != 900 || promised.CheckpointInterval != 60 || promised.Worst != (api.Cost{}) {
		t.Errorf("promised %+v", promised)
	}
	kept := settled(t, s, "alice", id, api.StateKept)
	if got := stamps(t, out, "work"); len(got) != 1 || kept.End == 0 || kept.End > at {
		t.Errorf("work at %v, settled %+v", got, kept)
	}

	// Of an array, all tasks have ended: two rounds of three.
	several, ran := script(t, s, "several", "#SBATCH --open-mode=append", "sleep 2")
	option, at = finishBy(s.Paced(10 * time.Minute))
	id, promised = reserve(t, s, "alice", option, "--prob=0.5", "--array=1-6%3", "--ntasks=1", "--time=2", several)
	if promised.FinishBy != at || promised.Tasks != 6 || promised.Array != (api.Array{Tasks: 6, AtOnce: 3}) || promised.TimeLimit != 120 {
		t.Errorf("promised %+v", promised)
	}
	kept = settled(t, s, "alice", id, api.StateKept)
	if got := stamps(t, ran, "work"); len(got) != 6 || kept.End < int64(got[5]) || kept.End > at {
		t.Errorf("work at %v, settled %+v", got, kept)
	}

	compareDeadlines(t, s, file)

	// What cannot be promised is refused, and other deadlines are offered: with --risk the earliest
	// of them is promised, and it holds what was offered.
	refused, err := s.Run(ctx, "alice", "sbatch", "--finish-by=now+3", "--prob=0.8", "--time=15", "--job-name=refused", file)
	if err != nil {
		t.Fatal(err)
	}
	if refused.Code == 0 || !strings.Contains(refused.Stderr, "possible: --finish-by=") || len(jobs(t, s, "alice", "refused")) != 0 {
		t.Errorf("exit code %d: %s", refused.Code, refused.Stderr)
	}
	risky := mustRun(t, s, "alice", "sbatch", "--parsable", "--risk=0.8", "--time=15", file)
	if !strings.Contains(risky.Stderr, "promised: finished by ") || !strings.Contains(risky.Stderr, "with probability 0.8") {
		t.Errorf("--risk: %s", risky.Stderr)
	}
	quote := mustRun(t, s, "alice", "varq", "quote", "--risk=0.8", "--time=15", "-N1")
	if !strings.Contains(quote.Stdout, "Possible instead") {
		t.Errorf("varq quote: %s", quote.Stdout)
	}

	// A job that its time limit stops has not done its work: nothing was promised.
	stopping, _ := script(t, s, "timeout", "", "sleep 1000")
	option, _ = finishBy(time.Hour)
	stopped, _ := reserve(t, s, "bob", option, "--prob=0.8", "--time=1", "--exclusive", stopping)

	// The promise of a job whose node is down is endangered before its deadline, and Slurm puts the
	// job back into the queue.
	long, _ := script(t, s, "nodefails", "#SBATCH --requeue", "sleep 1000")
	option, _ = finishBy(5 * time.Minute)
	failing, _ := reserve(t, s, "alice", option, "--prob=0.9", "--time=15", long)
	if err := s.WaitState(ctx, failing, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	node := strings.TrimSpace(mustRun(t, s, "alice", "squeue", "--noheader", "--format=%N", "--jobs="+strconv.FormatInt(failing, 10)).Stdout)
	daemon := cluster.Slurmd(node)
	if err := s.KillDaemon(daemon); err != nil {
		t.Fatal(err)
	}
	var r api.Reservation
	eventually(t, "the promise is endangered", func() bool {
		r, err = s.Reservation(ctx, "alice", failing)
		return err == nil && strings.HasPrefix(r.Note, "endangered: ")
	})
	if r.Now == nil || *r.Now >= .9 || r.Later <= r.FinishBy || time.Now().Unix() > r.FinishBy {
		t.Errorf("%+v", r)
	}
	told := mustRun(t, s, "alice", "varq", "status", strconv.FormatInt(failing, 10)).Stdout
	if !strings.Contains(told, "endangered") || !strings.Contains(told, "Later") {
		t.Errorf("varq status: %s", told)
	}
	eventually(t, "the site's program is told", func() bool {
		text, _ := os.ReadFile(notices)
		return strings.Contains(string(text), fmt.Sprintf(`{"event":"endangered","user":"alice","job":%d,`, failing))
	})
	eventually(t, "Slurm requeues the job", func() bool {
		r, err = s.Reservation(ctx, "alice", failing)
		return err == nil && len(r.Events) > 0 && strings.Contains(fmt.Sprint(r.Events), "back in the queue")
	})
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(failing, 10))

	timedOut := settled(t, s, "bob", stopped, api.StateCancelled)
	if !strings.Contains(timedOut.Note, "time limit") {
		t.Errorf("a time-out is settled with %q", timedOut.Note)
	}
	eventually(t, "forecasts of ends are scored", func() bool {
		told := mustRun(t, s, "alice", "varq", "report", "--calibration", "--forecaster=completion", "--parsable2", "--noheader").Stdout
		return strings.HasPrefix(told, "completion|end|")
	})
}

// compareDeadlines submits the same jobs, which take seconds and may take a quarter of an hour,
// with --finish-by and with Slurm's own --deadline. Slurm goes by the time limit, and takes none of
// them.
func compareDeadlines(t *testing.T, s *site.Site, file string) {
	t.Helper()
	const jobs = 3
	option, _ := finishBy(5 * time.Minute)
	var promised []int64
	var theirs []int64
	refused := 0
	for range jobs {
		id, _ := reserve(t, s, "alice", option, "--prob=0.8", "--time=15", file)
		promised = append(promised, id)
		run, err := s.Run(t.Context(), "alice", "sbatch", "--parsable", strings.Replace(option, "--finish-by", "--deadline", 1), "--time=15", file)
		if err != nil {
			t.Fatal(err)
		}
		if run.Code != 0 && strings.Contains(run.Stderr, "time limit is invalid") { // 24.11
			refused++
			continue
		}
		other, err := strconv.ParseInt(strings.TrimSpace(run.Stdout), 10, 64)
		if err != nil {
			t.Fatalf("%v: %s", err, run.Stderr)
		}
		theirs = append(theirs, other)
	}
	for _, id := range theirs {
		if err := s.WaitState(t.Context(), id, "DEADLINE"); err != nil {
			t.Error(err)
		}
	}
	used := int64(0)
	for _, id := range promised {
		r := settled(t, s, "alice", id, api.StateKept)
		used += (r.End - r.Start) * int64(r.Has())
	}
	t.Logf("%d jobs due in 5 minutes, with --finish-by: %d promised, %d kept, %d node-seconds; with --deadline: %d refused and %d cancelled for their time limit",
		jobs, len(promised), len(promised), used, refused, len(theirs))
}

// configured adds lines to varq.yaml until the test is over, and restarts varqd.
func configured(t *testing.T, s *site.Site, lines string) {
	t.Helper()
	before, err := os.ReadFile(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	configure(t, s, lines)
	t.Cleanup(func() {
		if err := os.WriteFile(s.Config(), before, 0o644); err != nil {
			t.Error(err)
		}
		if err := s.RestartVarqd(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// configure adds lines to varq.yaml, and restarts varqd.
func configure(t *testing.T, s *site.Site, lines string) {
	t.Helper()
	text, err := os.ReadFile(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Config(), append(text, lines...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.RestartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
}
