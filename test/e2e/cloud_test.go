package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestCloud: the time until nodes are powered up is a part of the wait. Nothing is promised for
// sooner than Slurm allows them for that, unless nodes are up, and a job counts as started once its
// nodes are up.
func TestCloud(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 4, History: brief(), Boot: 5 * time.Second})
	const says = "nodes of partition main that nobody needs are powered down, and may take 00:00:40 to be up again (ResumeTimeout), longer than until the deadline"
	if got := quoteOf(t, s, "30seconds"); !strings.Contains(got, says) {
		t.Errorf("while all nodes are powered down: %s", got)
	}
	if got, err := s.Run(t.Context(), "alice", "varq", "predict", "--time=5"); err != nil || !strings.Contains(got.Stdout, "The job cannot start at once: nodes of partition main that nobody needs are powered down") {
		t.Errorf("predict: %+v, %v", got, err)
	}
	if got, err := s.Run(t.Context(), "alice", "varq", "quote", "--time=1", "--finish-by=now+35seconds", "--prob=0.5"); err != nil || !strings.Contains(got.Stdout+got.Stderr, "may take 00:00:40 to be up again") {
		t.Errorf("an end before nodes are up: %+v, %v", got, err)
	}
	file, out := script(t, s, "cloud", "", "")
	s.InTime(t, 55*time.Second, func(lead time.Duration) bool {
		eventually(t, "all nodes are powered down, and varqd knows it", func() bool {
			states := strings.Fields(mustRun(t, s, "root", "sinfo", "--noheader", "--format=%t").Stdout)
			if slices.Contains(states, "idle") { // after a round that was not in time
				mustRun(t, s, "root", "scontrol", "update", "nodename=ALL", "state=power_down")
			}
			return slices.Equal(slices.Compact(states), []string{"idle~"}) && strings.Contains(quoteOf(t, s, "30seconds"), says)
		})
		id, r, at := reserveIn(t, s, lead, "alice", "--prob=0.5", "--time=5", file)
		if at-r.BeginTime < 40 {
			t.Errorf("eligible %d s before the deadline", at-r.BeginTime)
		}
		if err := s.WaitState(t.Context(), id, "CONFIGURING"); err != nil {
			t.Fatal(err)
		}
		awaitLook(t, s)
		now, err := s.Reservation(t.Context(), "alice", id)
		configuring := time.Now().Unix()
		if job, err := s.Job(t.Context(), id); err != nil {
			t.Fatal(err)
		} else if job["JobState"] != "CONFIGURING" { // it has started since
			return false
		}
		if err != nil || now.Start != 0 {
			t.Errorf("while its node is powered up, the job counts as started: %+v, %v", now, err)
		}
		r = settled(t, s, "alice", id, api.StateKept, api.StateMissed)
		if r.State == api.StateMissed {
			return false
		}
		if r.Start < configuring || r.Start > at {
			t.Errorf("started at %d, and was seen to wait for its node at %d", r.Start, configuring)
		}
		wantStart(t, out, at)
		return true
	})
	eventually(t, "what fits on the node that is up now is promised soon, and no more", func() bool {
		return strings.Contains(quoteOf(t, s, "30seconds"), "Can be promised") && strings.Contains(quoteOf(t, s, "30seconds", "--nodes=2"), says)
	})

	// A job whose nodes are being powered up has them: nobody else is promised them.
	id, _, err := s.Submit(t.Context(), "bob", "--exclusive", "-N4", "-t60", "-o/dev/null", "--wrap=exec sleep 1d")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), id, "CONFIGURING"); err != nil {
		t.Fatal(err)
	}
	awaitLook(t, s)
	if got := quoteOf(t, s, "2minutes"); !strings.Contains(got, "too little room at the deadline") {
		t.Errorf("while another job waits for all nodes to be powered up: %s", got)
	}
}
