package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
)

// TestRoom: no more is promised than there is room for, on a cluster with a calm past.
func TestRoom(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: func(yield func(workload.Job, error) bool) {
		for j, err := range site.Calm(time.Now().Unix()) {
			if j.ID%5 == 0 && j.Nodes == 1 {
				j.Partition, j.Limit = "short", min(j.Limit, 600)
			}
			if !yield(j, err) {
				return
			}
		}
	}})
	node := workload.Request{Size: workload.Size{Nodes: 1}, Limit: 300}

	t.Run("for one deadline", func(t *testing.T) { // 14 nodes of 8
		by := time.Now().Add(20 * time.Minute).Format("2006-01-02T15:04:05")
		const reason = "running jobs and other promises leave too little room at the deadline"
		said := submissions(t, s, 14, "--exclusive", "-N1", "-t10", "--begin-by="+by, "--prob=0.5")
		if granted, refused := strings.Count(said, "Submitted batch job"), strings.Count(said, reason); granted != 8 || refused != 6 {
			t.Errorf("%d promised, %d refused:\n%s", granted, refused, said)
		}
		if list := reservations(t, s); len(list) != 8 {
			t.Errorf("%d reservations: %+v", len(list), list)
		}
		withdraw(t, s)
		eventually(t, "the room is free again", func() bool {
			return quoted(t, s, workload.Request{Size: workload.Size{Nodes: 4, CPUs: 16}, Limit: 300}, 20*60, .3, false).Plan != nil
		})
	})

	promises := func(n int, options string) (granted int) {
		said := submissions(t, s, n, strings.Fields(options)...)
		granted = strings.Count(said, "Submitted batch job")
		if refused := strings.Count(said, "too little room"); granted+refused != n {
			t.Errorf("%s: %d promised, %d refused:\n%s", options, granted, refused, said)
		}
		return granted
	}
	for _, c := range []struct {
		name, options string
		of, most      int
	}{
		{"in a small partition", "--prob=0.3 -p short --exclusive -N1 -t5 --begin-by=now+20minutes", 6, 2},
		// two at once, and two after them
		{"in a window", "--prob=0.3 --exclusive -N4 -t10 --begin-after=now+10minutes --begin-by=now+25minutes", 6, 4},
		{"beside what is held", "--prob=0.3 --exclusive -N3 -t5 --begin-by=now+20minutes", 6, 2},
		{"for tasks of three CPUs on nodes of four", "--prob=0.3 -n1 -c3 -t5 --begin-by=now+20minutes", 10, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if granted := promises(c.of, c.options); granted < 2 || granted > c.most {
				t.Errorf("%d promised, of which %d can be kept", granted, c.most)
			}
			withdraw(t, s)
		})
	}

	t.Run("beside a smaller job on several nodes", func(t *testing.T) {
		if granted := promises(1, "--prob=0.3 -N4 -n4 -t5 --begin-by=now+20minutes"); granted != 1 {
			t.Fatal("a CPU on each of four nodes is refused")
		}
		if granted := promises(3, "--prob=0.3 --exclusive -N4 -t5 --begin-by=now+20minutes"); granted != 1 {
			t.Errorf("%d promised for four whole nodes, of one that can be kept", granted)
		}
		withdraw(t, s)
	})

	t.Run("for work that may begin early", func(t *testing.T) {
		if granted := promises(2, "--prob=0.3 --exclusive -N4 -t5 --begin-by=now+20minutes"); granted != 2 {
			t.Fatalf("%d promised, of two for all nodes", granted)
		}
		open := slices.DeleteFunc(reservations(t, s), func(r api.Reservation) bool { return r.State == api.StateCancelled })
		first := slices.MinFunc(open, func(a, b api.Reservation) int { return cmp.Compare(a.BeginTime, b.BeginTime) })
		// would still run then
		early := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 16}, Limit: 1800}
		a := quoted(t, s, early, 3600, .3, true)
		if a.Plan == nil || a.Plan.BeginTime < first.BeginTime {
			t.Errorf("before the work of others, which is to begin by %d: %+v, %+v", first.BeginBy, a.Plan, a.Refusal)
		}
		withdraw(t, s)
	})

	// more of it than begins in sixteenths of the day
	t.Run("for work that may begin in a day", func(t *testing.T) {
		if granted := promises(20, "--prob=0.3 --exclusive -N4 -n16 -t10 --begin-after=now+10minutes --begin-by=now+1day"); granted != 20 {
			t.Errorf("%d promised, all of which can be kept", granted)
		}
		withdraw(t, s)
	})

	// the jobs that bob ran until now were long
	t.Run("where each node has a job", func(t *testing.T) {
		mustRun(t, s, "bob", "sbatch", "-N8", "-n8", "-t40", "-o/dev/null", "--wrap=exec sleep 1d")
		eventually(t, "varqd has seen the job", func() bool { return predicted(t, s, node).Running == 1 })
		// accounting may have told of it first, and does not tell on which nodes it is
		twoLooks(t, s)
		for _, options := range []string{"--exclusive -N1", "--exclusive=user -n1", "-n1 -c4", "-N2 -n2 -c4", "-N2 -n8", "-N2 -n7", "-N3 -n10"} {
			if granted := promises(1, "--prob=0.5 "+options+" -t5 --begin-by=now+3minutes"); granted != 0 {
				t.Errorf("%s is promised, though no node is free", options)
			}
		}
		for option, full := range map[string]bool{"--exclusive": true, "--ntasks=1": false} {
			r := mustRun(t, s, "alice", "varq", "predict", option, "--time=5")
			if strings.Contains(r.Stdout, "running jobs leave no room for it now") != full {
				t.Errorf("with %s:\n%s", option, r.Stdout)
			}
		}
		if granted := promises(1, "--prob=0.5 -n1 -c3 -t5 --begin-by=now+3minutes"); granted != 1 {
			t.Error("three CPUs are refused, though each node has as many")
		}
		whole := workload.Request{Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: 300}
		mustRun(t, s, "root", "bash", "-c", "scontrol update jobid=$(squeue -hu bob -o %i) timelimit=2")
		eventually(t, "a whole node is promised for when his job will have ended, since its time limit is lower", func() bool {
			return quoted(t, s, whole, 3*60, .5, false).Plan != nil
		})
		if r := mustRun(t, s, "bob", "squeue", "--noheader", "--user=bob", "--states=running"); r.Stdout == "" {
			t.Error("it is promised only since his job has reached the limit")
		}
		mustRun(t, s, "root", "scancel", "--user=bob")
		withdraw(t, s)
	})

	t.Run("where each node is one user's", func(t *testing.T) { // who has a CPU of it
		mustRun(t, s, "root", "scontrol", "update", "partitionname=short", "exclusiveuser=yes")
		for partition, options := range map[string]string{"short": "-N2 -n2", "main": "-N8 -n8 --exclusive=user"} {
			free := func() bool {
				asked := workload.Request{Partition: partition, Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 300}
				return quoted(t, s, asked, 3*60, .3, false).Plan != nil
			}
			eventually(t, "there is room in "+partition, free)
			mustRun(t, s, "bob", "bash", "-c", "sbatch -t40 -o/dev/null --partition="+partition+" "+options+" --wrap='exec sleep 1d'")
			eventually(t, "there is none beside a job of "+options+" in "+partition, func() bool { return !free() })
			mustRun(t, s, "root", "scancel", "--user=bob")
			eventually(t, "there is room again in "+partition, free)
		}
	})

	// two of the same nodes, on one of which a job runs
	t.Run("beside reservations of Slurm's", func(t *testing.T) {
		mustRun(t, s, "oper", "sbatch", "--exclusive", "-N1", "-t60", "-wnode8", "-o/dev/null", "--wrap=exec sleep 1d")
		eventually(t, "varqd has seen that the job runs", func() bool { return predicted(t, s, node).Running == 1 })
		for _, r := range []string{"maint", "again"} {
			mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname="+r, "users=root", "flags=maint,overlap,ignore_jobs", "nodes=node[3-8]", "starttime=now+10minutes", "duration=60")
		}
		eventually(t, "varqd has read the reservations", func() bool {
			return quoted(t, s, workload.Request{Size: workload.Size{Nodes: 3}, Limit: 300}, 20*60, .5, false).Plan == nil
		})
		if granted := promises(5, "--prob=0.3 --exclusive -N1 -t5 --begin-by=now+20minutes"); granted != 2 {
			t.Errorf("%d promised, of which 2 can be kept", granted)
		}
		mustRun(t, s, "root", "scontrol", "delete", "reservationname=maint")
		mustRun(t, s, "root", "scontrol", "delete", "reservationname=again")
		mustRun(t, s, "root", "scancel", "--user=oper")
		withdraw(t, s)
		eventually(t, "varqd has seen that nothing is in the way", func() bool {
			return quoted(t, s, workload.Request{Size: workload.Size{Nodes: 4, CPUs: 16}, Limit: 300}, 20*60, .3, false).Plan != nil
		})
	})

	t.Run("after a maintenance that goes on", func(t *testing.T) {
		mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=maint", "users=root", "flags=maint", "nodes=node[3-8]", "starttime=now", "duration=30")
		four := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 16}, Limit: 300}
		eventually(t, "nothing is promised while it goes on", func() bool {
			return quoted(t, s, four, 20*60, .3, false).Plan == nil
		})
		if granted := promises(4, "--prob=0.3 --exclusive -N1 -t5 --begin-by=now+2hours"); granted != 4 {
			t.Errorf("when it is over, %d of four are promised", granted)
		}
		if p := predicted(t, s, four); p.Bounds[0].Expected != nil && *p.Bounds[0].Expected < 25*60 || !strings.Contains(p.Short, "6 reserved") {
			t.Errorf("predicted: %+v", p)
		}
		mustRun(t, s, "root", "scontrol", "delete", "reservationname=maint")
		withdraw(t, s)
	})

	t.Run("beside a reservation of Slurm's that comes again", func(t *testing.T) {
		mustRun(t, s, "root", "scontrol", "create", "reservation", "reservationname=again", "users=root", "flags=daily", "nodes=ALL", "starttime=now+2hours", "duration=60")
		for _, hours := range []int64{2, 26, 7*24 + 2} {
			eventually(t, fmt.Sprintf("nothing is promised for when it has begun, in %d hours", hours), func() bool {
				return quoted(t, s, node, hours*3600+1800, .5, false).Plan == nil
			})
		}
		if a := quoted(t, s, node, 24*3600, .5, false); a.Plan == nil {
			t.Errorf("two hours before it comes again: %+v", a.Refusal)
		}
		mustRun(t, s, "root", "scontrol", "delete", "reservationname=again")
	})

	t.Run("beside running jobs", func(t *testing.T) {
		mustRun(t, s, "bob", "bash", "-c", "for i in {1..8}; do sbatch --exclusive -N1 -t40 -o/dev/null --wrap='exec sleep 1d'; done")
		eventually(t, "varqd has seen that all nodes are taken", func() bool { return predicted(t, s, node).Running == 8 })
		if p := predicted(t, s, node); p.Taken < .9 || p.Bounds[0].Expected != nil && *p.Bounds[0].Expected < 60 {
			t.Errorf("predicted: %+v", p)
		}
		r := mustRun(t, s, "alice", "varq", "predict", "--why", "--time=5")
		if !strings.Contains(r.Stdout, "running jobs leave no room for the job now") {
			t.Errorf("--why says\n%s", r.Stdout)
		}
		if a := quoted(t, s, node, 120, .5, false); a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "too little room") {
			t.Errorf("within two minutes: %+v, %+v", a.Plan, a.Refusal)
		}
		mustRun(t, s, "root", "scancel", "--user=bob")
		eventually(t, "varqd has seen that no job runs", func() bool { return predicted(t, s, node).Running == 0 })
	})

	t.Run("beside jobs that wait for their begin time", func(t *testing.T) {
		mustRun(t, s, "bob", "sbatch", "--exclusive", "-N8", "-t30", "--begin=now+10minutes", "-o/dev/null", "--wrap=exec sleep 1d")
		begins := time.Now().Unix() + 600
		eventually(t, "what is to run after his job begins has its nodes before", func() bool {
			a := quoted(t, s, node, 20*60, .5, false)
			return a.Plan != nil && a.Plan.BeginTime < begins
		})
		if a := quoted(t, s, node, 60*60, .5, false); a.Plan == nil || a.Plan.BeginTime < begins {
			t.Errorf("for when his job has ended: %+v, %+v", a.Plan, a.Refusal)
		}
		if r := mustRun(t, s, "alice", "bash", "-c", "sbatch -N1 -t5 -o/dev/null --begin-by=now+20minutes --prob=.5 --max-cost=.01 --wrap=true 2>&1; true"); !strings.Contains(r.Stdout, "--max-cost") {
			t.Errorf("with a ceiling:\n%s", r.Stdout)
		}
		mustRun(t, s, "root", "scancel", "--user=bob")
		eventually(t, "nothing is in the way when his job is cancelled", func() bool {
			a := quoted(t, s, node, 20*60, .5, false)
			return a.Plan != nil && a.Plan.BeginTime > begins
		})
	})

	t.Run("on drained nodes", func(t *testing.T) {
		// 4 CPUs, as many as one node has
		four := workload.Request{Size: workload.Size{Nodes: 4}, Limit: 300}
		eventually(t, "a job of four nodes is promised", func() bool {
			return quoted(t, s, four, 3600, .3, false).Plan != nil
		})
		mustRun(t, s, "root", "scontrol", "update", "nodename=node[2-8]", "state=drain", "reason=test")
		eventually(t, "a job of more nodes than are left is promised nothing", func() bool {
			return quoted(t, s, four, 3600, .3, false).Plan == nil
		})
		if p := predicted(t, s, four); p.Bounds[0].Expected != nil && *p.Bounds[0].Expected < 3600 {
			t.Errorf("predicted: %+v", p)
		}
		const why = "only 1 of the 8 nodes of partition main can start jobs now (7 drained: node[2-8])"
		for _, option := range []string{"--json=false", "--why"} {
			r := mustRun(t, s, "alice", "varq", "predict", option, "--nodes=4", "--time=5")
			if !strings.Contains(r.Stdout, why) || strings.Contains(r.Stdout, "learnt from") || strings.Contains(r.Stdout, "running jobs leave no room") {
				t.Errorf("%s says\n%s", option, r.Stdout)
			}
		}
		if a := quoted(t, s, four, 3600, .5, false); a.Refusal == nil || !strings.Contains(a.Refusal.Reason, why) {
			t.Errorf("quoted: %+v", a)
		}
		if a := quoted(t, s, node, 3600, .5, false); a.Plan == nil {
			t.Errorf("on the node that is left: %+v", a.Refusal)
		}
	})
}

// submissions returns what alice is told of n jobs that she submits, one after the other.
func submissions(t *testing.T, s *site.Site, n int, options ...string) (said string) {
	t.Helper()
	for range n {
		r, err := s.Run(t.Context(), "alice", "sbatch", append(options, "-o/dev/null", "--wrap=exec sleep 1d")...)
		if err != nil {
			t.Fatal(err)
		}
		said += r.Stdout + r.Stderr
	}
	return said
}

// withdraw cancels alice's jobs, once varqd knows them, and waits until none of her promises is
// open.
func withdraw(t *testing.T, s *site.Site) {
	t.Helper()
	eventually(t, "each promise has its job", func() bool {
		return !slices.ContainsFunc(reservations(t, s), func(r api.Reservation) bool { return r.State == api.StatePromised })
	})
	mustRun(t, s, "root", "scancel", "--user=alice")
	eventually(t, "nothing is open", func() bool {
		return !slices.ContainsFunc(reservations(t, s), func(r api.Reservation) bool { return !slices.Contains(api.SettledStates, r.State) })
	})
}
