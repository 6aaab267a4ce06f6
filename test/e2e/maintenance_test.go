package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestMaintenanceHasBegun: while a maintenance of all nodes is on, jobs are planned for after its
// end, also if nodes go down meanwhile. Nodes that are drained are not back by then.
func TestMaintenanceHasBegun(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	const lasts = 60 * 60
	end := time.Now().Unix() + lasts
	mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=maint", "users=root", "flags=maint,ignore_jobs", "nodes=ALL",
		"starttime=now", "duration="+strconv.Itoa(lasts/60))
	job := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 300}
	says := func(lead int64) string {
		a := quoted(t, s, job, lead, .5, false)
		if a.Plan != nil {
			return "promised"
		}
		return a.Refusal.Reason
	}
	const during, after = lasts / 2, lasts + 6*3600
	named := func() bool {
		reason := says(during)
		return strings.Contains(reason, "reservation maint leaves partition main 0 of 8 nodes when the work is to run (from ") &&
			strings.Contains(reason, slurmtime.Stamp(end, time.Local)[:len("2006-01-02T15:04")])
	}
	eventually(t, "what is to run in it is refused, with its name and its end", named)
	eventually(t, "what is to run after it is promised", func() bool { return says(after) == "promised" })
	mustRun(t, s, "root", "scontrol", "update", "nodename=node[1-8]", "state=down", "reason=firmware")
	eventually(t, "varqd has seen that the nodes are down", func() bool {
		r, err := s.Run(t.Context(), "root", "varq", "predict", "-N4", "-t5")
		return err == nil && r.Code == 0 && named() && says(after) == "promised"
	})
	mustRun(t, s, "root", "scontrol", "update", "nodename=node[1-8]", "state=resume")
	mustRun(t, s, "root", "scontrol", "update", "nodename=node[1-8]", "state=drain", "reason=disk")
	eventually(t, "nothing is promised when all nodes are drained", func() bool {
		return strings.Contains(says(after), "8 drained")
	})
	mustRun(t, s, "root", "scontrol", "update", "nodename=node[1-8]", "state=resume")
	eventually(t, "when they are resumed it is promised again", func() bool { return says(after) == "promised" })
	mustRun(t, s, "root", "scontrol", "delete", "reservationname=maint")
	eventually(t, "when it is over, what would have run in it is promised", func() bool { return says(during) == "promised" })
}

// TestReservedCores: reservations of half of the cores of each node leave the others to jobs that
// fit there, and to no others, as Slurm does.
func TestReservedCores(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	// nobody waits
	s := site.ForTest(t, site.Options{History: func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			if j.ID%10 != 0 && !yield(j, err) {
				return
			}
		}
	}})
	for node := 1; node <= 8; node++ {
		n := strconv.Itoa(node)
		mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=half"+n, "users=root", "nodes=node"+n, "corecnt=2", "starttime=now", "duration=1-0")
	}
	for _, c := range []struct {
		options string
		starts  bool
		says    string
	}{
		{"--nodes=8", true, ""},
		{"--nodes=8 --ntasks=16", true, ""},
		{"--ntasks=2 --nodes=1", true, ""},
		{"--ntasks=3 --nodes=1", false, "leave partition main only 0 of 8 nodes with room for such a job"},
		{"--nodes=1 --exclusive", false, "leave partition main only 0 of 8 nodes with room for such a job"},
		{"--ntasks=17", false, "leave partition main only 16 of 32 CPUs"},
	} {
		options := strings.Fields(c.options)
		id, _, err := s.Submit(t.Context(), "alice", append(options, "--time=5", "--output=/dev/null", "--wrap=exec sleep 1d")...)
		if err != nil {
			t.Fatal(err)
		}
		job := func() map[string]string {
			j, err := s.Job(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		if c.starts {
			eventually(t, "Slurm starts "+c.options, func() bool { return job()["JobState"] == "RUNNING" })
		} else {
			eventually(t, "Slurm has looked at "+c.options, func() bool { j := job(); return j["Reason"] != "None" && j["Reason"] != "Priority" })
			if j := job(); j["JobState"] != "PENDING" {
				t.Errorf("%s: %s", c.options, j["JobState"])
			}
		}
		mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
		eventually(t, "no job runs", func() bool { return len(jobs(t, s, "alice", "wrap")) == 0 })
		eventually(t, "varqd is of the same opinion about "+c.options, func() bool {
			r, err := s.Run(t.Context(), "alice", "varq", append([]string{"quote", "--begin-by=now+1hour", "--prob=0.5", "--time=5"}, options...)...)
			return err == nil && strings.Contains(r.Stdout, "Cannot be promised") != c.starts && strings.Contains(r.Stdout, c.says)
		})
	}
}

// TestMaintenance: jobs that a maintenance of all nodes keeps from starting pile up until its end.
// What fits before it is not behind them; what comes after it is.
func TestMaintenance(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	// nobody waits, and bob's long jobs run for their limits
	s := site.ForTest(t, site.Options{History: func(yield func(workload.Job, error) bool) {
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

// mostNodes: while a reservation that is to come has all nodes but one, what would run into it
// piles up before that one.
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
