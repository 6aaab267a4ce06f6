package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// allOfHeldUp: a job of --all-of that an operator suspends over the time at which all are to begin,
// or puts back into the queue, has missed its promise. Without it nothing runs: the other one is
// cancelled, and told why, and none waits for ever.
func allOfHeldUp(t *testing.T, sites map[string]*site.Site) {
	thorough.Only(t)
	alpha, beta := sites["alpha"], sites["beta"]
	for verb, note := range map[string]string{"suspend": "suspended by an operator", "requeuehold": "did not start in time"} {
		r := reserveGroup(t, sites, verb, func() []string { return together(alpha) })
		job := map[string]int64{}
		for _, m := range r.out.Members {
			job[m.Site] = m.Job
		}
		// Without its varqd the job cannot be told to go before the operator comes.
		if err := beta.KillVarqd(); err != nil {
			t.Fatal(err)
		}
		if err := beta.WaitState(t.Context(), job["beta"], "RUNNING"); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: runs %d s after the common time", verb, time.Now().Unix()-r.out.Members[0].Start)
		if run, err := beta.Run(t.Context(), "root", "scontrol", verb, strconv.FormatInt(job["beta"], 10)); err != nil || run.Code != 0 {
			t.Fatalf("%+v, %v", run, err)
		}
		if err := beta.StartVarqd(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.over()
		t.Logf("%s: no job is left %d s after the common time", verb, time.Now().Unix()-r.out.Members[0].Start)
		if starts := r.starts(); len(starts) > 0 {
			t.Errorf("%s: the work ran at %v", verb, starts)
		}
		if got := settled(t, beta, "alice", job["beta"], api.StateMissed); !strings.Contains(got.Note, note) {
			t.Errorf("%s: %q", verb, got.Note)
		}
		if got := settled(t, alpha, "alice", job["alpha"], api.StateCancelled); !strings.HasSuffix(got.Note, " at beta did not start in time") {
			t.Errorf("%s: the other job: %q", verb, got.Note)
		}
	}
}

// allOfSuspendedLast: if an operator suspends a job of --all-of when all have been told to begin,
// the others do. It begins when it is resumed, and has missed its promise.
func allOfSuspendedLast(t *testing.T, sites map[string]*site.Site) {
	thorough.Only(t)
	alpha, beta := sites["alpha"], sites["beta"]
	r := reserveGroup(t, sites, "last", func() []string { return together(alpha) })
	job := map[string]int64{}
	for _, m := range r.out.Members {
		job[m.Site] = m.Job
	}
	id := strconv.FormatInt(job["beta"], 10)
	eventually(t, "all are told to begin", func() bool {
		got, err := beta.Reservation(t.Context(), "alice", job["beta"])
		return err == nil && slices.ContainsFunc(got.Events, func(e api.Event) bool {
			return strings.HasPrefix(e.Text, "the work of all jobs of the group begins at")
		})
	})
	mustRun(t, beta, "root", "scontrol", "suspend", id)
	if late := time.Now().Unix() - r.out.Members[0].Start; late >= 0 {
		t.Skipf("the machine is too slow: suspended %d s after the work was to begin", late)
	}
	eventually(t, "alpha's work runs, and its job is over", func() bool {
		return len(r.starts()["alpha"]) == 1 && len(jobs(t, alpha, "alice", r.name)) == 0
	})
	mustRun(t, beta, "root", "scontrol", "resume", id)
	r.over()
	if starts := r.starts(); len(starts["alpha"]) != 1 || len(starts["beta"]) != 1 {
		t.Errorf("the work ran at %v", starts)
	}
	settled(t, alpha, "alice", job["alpha"], api.StateKept)
	if got := settled(t, beta, "alice", job["beta"], api.StateMissed); !strings.Contains(got.Note, "suspended by an operator") {
		t.Errorf("%q", got.Note)
	}
}
