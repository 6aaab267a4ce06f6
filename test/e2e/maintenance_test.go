package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
)

// TestMaintenance: jobs that a maintenance of all nodes keeps from starting pile up until its end. What fits before it is not behind them;
// what comes after it is.
func TestMaintenance(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: func(yield func(workload.Job, error) bool) { // nobody waits, and bob's long jobs run for their limits
		for j, err := range site.Calm(time.Now().Unix()) {
			if j.ID%10 == 5 {
				j.Limit, j.End = 3*3600, j.Start+3*3600
			}
			if j.ID%10 != 0 && !yield(j, err) {
				return
			}
		}
	}})
	const begins, lasts = 40 * 60, 60 * 60
	end := time.Now().Unix() + begins + lasts
	mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=maint", "users=root", "flags=maint", "nodes=ALL",
		"starttime="+time.Unix(end-lasts, 0).Format("2006-01-02T15:04:05"), "duration="+strconv.Itoa(lasts/60))
	job := workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 300}
	promised := func(after time.Duration) bool { // from the end on
		a := quoted(t, s, job, end+int64(after.Seconds())-time.Now().Unix(), .9, false)
		if a.Plan != nil && a.Plan.BeginTime < end {
			t.Errorf("planned to begin before the end of the maintenance: %+v", a.Plan)
		}
		return a.Plan != nil
	}
	eventually(t, "nothing is promised for when it goes on", func() bool {
		return quoted(t, s, job, begins+lasts/2, .5, false).Plan == nil
	})
	eventually(t, "while nobody waits, an hour after it is promised", func() bool { return promised(time.Hour) })

	// They wait for all processors, for three hours each, which do not fit before it.
	for range 2 {
		mustRun(t, s, "bob", "sbatch", "-N8", "-n32", "-t180", "-o/dev/null", "--wrap=exec sleep 1d")
	}
	eventually(t, "varqd has seen that they wait", func() bool { return predicted(t, s, job).Waiting == 2 })
	if promised(time.Hour) {
		t.Error("an hour after it is promised, though others have the nodes for six hours then")
	}
	if !promised(12 * time.Hour) {
		t.Error("twelve hours after it is refused, though the others are done by then")
	}
	if p := predicted(t, s, job); p.Bounds[0].Expected == nil || *p.Bounds[0].Expected > 600 {
		t.Errorf("what fits before it is not predicted to start now: %+v", p)
	}
	long := job
	long.Limit = 3 * 3600
	if p := predicted(t, s, long); p.Beyond == 0 || p.Bounds[0].Expected != nil && time.Now().Unix()+int64(*p.Bounds[0].Expected) < end+2*3600 {
		t.Errorf("what does not fit before it is predicted to start before others that wait for its end: %+v", p)
	}
	mustRun(t, s, "root", "scancel", "--user=bob")
	eventually(t, "when they are cancelled, an hour after it is promised", func() bool { return promised(time.Hour) })
	mustRun(t, s, "root", "scontrol", "delete", "reservationname=maint")
	eventually(t, "when it is cancelled, what would have run into it is promised", func() bool {
		return quoted(t, s, job, begins+lasts/2, .5, false).Plan != nil
	})
	mostNodes(t, s, job)
}

// mostNodes: while a reservation that is to come has all nodes but one, what would run into it piles up before that one.
func mostNodes(t *testing.T, s *site.Site, job workload.Request) {
	t.Helper()
	const hour = 3600
	promised := func() bool { return quoted(t, s, job, 10*hour, .9, false).Plan != nil }
	mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=course", "users=root", "nodecnt=7",
		"starttime=now+40minutes", "duration=16:00:00")
	eventually(t, "while nobody waits, ten hours ahead is promised, for there is a node", promised)
	for range 20 {
		mustRun(t, s, "bob", "sbatch", "-N1", "-n4", "-t60", "-o/dev/null", "--wrap=exec sleep 1d")
	}
	eventually(t, "behind twenty hours' work for that node, ten hours ahead is refused", func() bool { return !promised() })
	mustRun(t, s, "root", "scontrol", "delete", "reservationname=course")
	eventually(t, "with all nodes the others are done by then, and it is promised", promised)
}
