package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestNeeds: what Slurm would refuse, varq refuses first, and what nobody can forecast is not
// promised. No promise is left of a submission that fails.
func TestNeeds(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History:  site.Calm(time.Now().Unix()),
		NodeConf: "Feature=ib,fast Gres=gpu:a100:1",
		GresConf: "Name=gpu Type=a100 File=/dev/null\n",
		SlurmConf: "GresTypes=gpu\nLicenses=matlab:3\nSelectTypeParameters=CR_Core_Memory\n" +
			"AccountingStorageEnforce=associations,limits,qos",
	})
	for _, command := range [][]string{
		{"sacctmgr", "--immediate", "add", "qos", "high"},
		{"sacctmgr", "--immediate", "modify", "user", "bob", "set", "qos+=high"},
		{"sacctmgr", "--immediate", "add", "qos", "large", "set", "MinTRESPerJob=cpu=2"},
		{"sacctmgr", "--immediate", "add", "qos", "lean", "set", "MaxTRESPerUser=cpu=2"},
		{"sacctmgr", "--immediate", "add", "qos", "single", "set", "MaxJobsPerUser=1"},
		{"sacctmgr", "--immediate", "modify", "user", "alice", "set", "qos+=large,lean,single"},
		{"scontrol", "create", "reservation", "reservationname=bobs", "users=bob", "nodes=node8", "starttime=now+1day", "duration=60"},
		{"scontrol", "create", "reservation", "reservationname=hers", "users=alice", "nodes=node8", "starttime=now+2days", "duration=60"},
		{"scontrol", "update", "nodename=node[1-2]", "availablefeatures=ib,fast,big", "activefeatures=ib,fast,big"},
	} {
		mustRun(t, s, "root", command[0], command[1:]...)
	}
	eventually(t, "varqd has read who may use what", func() bool {
		for _, option := range []string{"--constraint=big", "--reservation=hers", "--qos=high"} {
			r, err := s.Run(t.Context(), "alice", "varq", "quote", "--begin-by=now+6hours", "--time=5", option)
			if err != nil || strings.Contains(r.Stdout, "unknown") || strings.Contains(r.Stdout, " no ") {
				return false
			}
		}
		return true
	})
	t.Run("kinds", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *site.Site){
			"needs": needs, "phantom": phantom, "taken back": takenBack, "shares": shares,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	})
	// its limit is on the jobs of all
	t.Run("QOS by default", func(t *testing.T) { defaultQOS(t, s) })
}

// defaultQOS: who names no QOS, and has no default, gets normal; and its limits are looked at.
func defaultQOS(t *testing.T, s *site.Site) {
	mustRun(t, s, "root", "sacctmgr", "--immediate", "modify", "qos", "normal", "set", "maxwall=4")
	heldBack(t, s, "QOSMaxWallDurationPerJobLimit")
	// the last names no QOS
	for _, option := range []string{"--qos=normal", "--qos=NORMAL", "--account=phys"} {
		eventually(t, "varqd names the limit, with "+option, func() bool {
			r, err := s.Run(t.Context(), "alice", "varq", "quote", "--begin-by=now+6hours", "--prob=0.6", "--time=5", option)
			return err == nil && strings.Contains(r.Stdout, "QOS normal allows 00:04:00 (MaxWall)")
		})
	}
}

// heldBack submits a job of alice's without a reservation, waits until it is pending for the
// reason, and cancels it.
func heldBack(t *testing.T, s *site.Site, reason string, options ...string) {
	t.Helper()
	plain, _, err := s.Submit(t.Context(), "alice", append(options, "--time=5", "--output=/dev/null", "--wrap=true")...)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "Slurm holds the job back for "+reason, func() bool {
		job, err := s.Job(t.Context(), plain)
		return err == nil && job["Reason"] == reason
	})
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(plain, 10))
}

// needs submits jobs with options that restrict where they may run.
func needs(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "needs", "", "")
	submit := func(name string, args ...string) site.Run {
		t.Helper()
		r, err := s.Run(t.Context(), "alice", "sbatch", slices.Concat([]string{"--time=5", "--job-name=" + name}, args, []string{file})...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		args string
		says string
		take bool // Slurm takes the job without a reservation
	}{
		{"--constraint=foo", "--constraint=foo: no node has the feature foo", false},
		{"--constraint=big --nodes=3", "--constraint=big: 2 of the 8 nodes of partition main have these features, and the job needs 3", false},
		{"--reservation=foo", "--reservation=foo: Slurm has no reservation foo", false},
		{"--reservation=bobs", "--reservation=bobs: reservation bobs admits neither user alice nor account phys", false},
		{"--reservation=hers", "reservation hers has not begun when the work is to run", true},
		{"--mem=1T", "--mem: 0 of the 8 nodes of partition main have 1048576 MiB of memory", false},
		{"--mem-per-cpu=3G --ntasks=4 --nodes=1", "--mem-per-cpu: ", false},
		{"--account=nosuch", "--account=nosuch: user alice may not use it (account: phys)", false},
		{"--account=chem", "--account=chem: user alice may not use it", false},
		{"--qos=high", "--qos=high: user alice may not use it in account phys (QOS: large, lean, normal, single)", false},
		{"--qos=large", "QOS large takes no job of less than 2 cpu (MinTRES=cpu)", true},
		{"--qos=lean --ntasks=3", "QOS lean (of one user) allows 2 cpu (MaxTRESPU=cpu)", true},
		{"--qos=nosuch", `unknown QOS "nosuch"`, false},
		{"--gpus=9", "--gpus=9: the nodes of partition main that the job may have, have 8 gpu", false},
		{"--gpus=h100:1", "--gpus=h100:1: 0 of the 8 nodes of partition main have 1 gpu:h100", false},
		{"--gres=gpu:2", "--gres=gpu:2: 0 of the 8 nodes of partition main have 2 gpu", false},
		{"--gres=foo:1", "--gres=foo:1: 0 of the 8 nodes", false},
		{"--gpus=1", "0 jobs with GPUs are known to have started in partition main", true},
		{"--partition=short", "0 jobs are known to have started in partition short", true},
		{"--licenses=foo", "--licenses=foo: Slurm has no licence foo", false},
		{"--licenses=matlab:4", "--licenses=matlab:4: there are 3 of licence matlab", false},
		{"--licenses=matlab", "0 jobs with licences like matlab:1 are known to have started in partition main", true},
		{"--nodelist=foo", "--nodelist=foo: there is no node foo", false},
		{"--nodelist=node1 --nodes=2", "--nodelist=node1: Slurm adds other nodes to these", true},
		{"--exclude=foo", "--exclude=foo: there is no node foo", false},
		{"--exclude=node[2-8] --nodes=2", "--exclude=node[2-8]: 1 of the 8 nodes of partition main remain, and the job needs 2", false},
		{"--tmp=1T", "--tmp: 0 of the 8 nodes of partition main have 1048576 MiB of temporary disk", false},
		{"--mincpus=5", "--mincpus: 0 of the 8 nodes of partition main have 5 CPUs", false},
		{"--hold", "--hold does not go together with --begin-by", true},
	} {
		args := strings.Fields(c.args)
		r := submit("needs", append([]string{"--begin-by=now+6hours", "--prob=0.6"}, args...)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, "varq: ") || !strings.Contains(r.Stderr, c.says) || strings.Contains(r.Stderr, "promised") {
			t.Errorf("%s: exit code %d, said %q, not %q", c.args, r.Code, r.Stderr, c.says)
		}
		// The test is of use only if Slurm is of the same opinion.
		if r := submit("plain", append([]string{"--begin=now+6hours"}, args...)...); (r.Code == 0) != c.take {
			t.Errorf("%s without a reservation: exit code %d, said %q", c.args, r.Code, r.Stderr)
		}
	}
	mustRun(t, s, "alice", "scancel", "--name=plain")
	if got := jobs(t, s, "alice", "needs"); len(got) != 0 {
		t.Errorf("jobs %v are in the queue", got)
	}

	// A job that is alone on its nodes needs all their CPUs.
	for args, want := range map[string]struct {
		cpus  int32
		nodes string
	}{
		"--constraint=ib&fast": {cpus: 1}, "--mem-per-cpu=0": {cpus: 1}, "--mem=3G --account=PHYS": {cpus: 1}, "--exclusive --nodes=2": {cpus: 8},
		"--constraint=big": {1, "node[1-2]"}, "--nodelist=node1": {1, "node1"}, "--exclude=node[1-2]": {1, "node[3-8]"}, "--partition=short,main": {cpus: 1},
	} {
		id, r := reserve(t, s, "alice", append(strings.Fields(args), "--begin-by=now+6hours", "--prob=0.6", "--time=5", file)...)
		if r.CPUs != want.cpus || r.NodeSet != want.nodes || r.Partition != "main" {
			t.Errorf("%s: promised %+v", args, r.Size)
		}
		mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
	}
}

// shares: where a user's own jobs leave no room under a limit, her reservation would wait for them
// and not for nodes. Nothing is promised until they have gone.
func shares(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "shares", "", "")
	first, _, err := s.Submit(t.Context(), "alice", "--qos=single", "--time=10:00:00", "--output=/dev/null", "--wrap=sleep 3000")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), first, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	heldBack(t, s, "QOSMaxJobsPerUserLimit", "--qos=single")
	ask := func() site.Run {
		r, err := s.Run(t.Context(), "alice", "sbatch", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--qos=single", "--job-name=shares", file)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const says = "QOS single (of one user) allows 1 jobs at once (MaxJobsPU), and until the deadline your other jobs may have 1"
	eventually(t, "varqd has seen the job, and names the limit that is full", func() bool {
		r, err := s.Run(t.Context(), "alice", "varq", "quote", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--qos=single")
		return err == nil && strings.Contains(r.Stdout, says)
	})
	if r := ask(); r.Code == 0 || !strings.Contains(r.Stderr, says) {
		t.Errorf("beside job %d: exit code %d, said %q", first, r.Code, r.Stderr)
	}
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(first, 10))
	eventually(t, "it is promised once the job has gone", func() bool { return ask().Code == 0 })
	eventually(t, "what is promised, and becomes eligible only in hours, leaves no room either", func() bool {
		r, err := s.Run(t.Context(), "alice", "varq", "quote", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--qos=single")
		return err == nil && strings.Contains(r.Stdout, says)
	})
	mustRun(t, s, "alice", "scancel", "--name=shares")
}

// phantom: varqd does not know how long an address for mail may be. So it promises, and Slurm
// refuses: the user reads nothing of the promise, and soon there is none.
func phantom(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "phantom", "", "")
	const prob = "--prob=0.61"
	submitted := 0
	for _, command := range [][]string{{"sbatch", file}, {"srun", "true"}, {"salloc", "true"}} {
		r, err := s.Run(t.Context(), "alice", command[0], "--begin-by=now+6hours", prob, "--time=5", "--mail-user="+strings.Repeat("a", 1100), "--job-name=phantom", command[1])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Stderr, "varq: no promise") {
			continue // a slow machine may have started no jobs for a while
		}
		submitted++
		if r.Code == 0 || strings.Contains(r.Stderr, "varq: ") || !strings.Contains(r.Stderr, "too long") {
			t.Errorf("%s: exit code %d, said %q", command[0], r.Code, r.Stderr)
		}
	}
	if submitted == 0 {
		t.Skip("varqd refuses everything")
	}
	eventually(t, "all phantoms are gone", func() bool {
		gone := 0
		for _, r := range reservations(t, s, "--state=CANCELLED") {
			if r.Prob == .61 && r.State == api.StateCancelled && r.Note == "taken back: no job of it was seen" {
				gone++
			}
		}
		return gone == submitted
	})
}

// reservations returns alice's reservations, as varq status with these options has them.
func reservations(t *testing.T, s *site.Site, options ...string) []api.Reservation {
	t.Helper()
	r, err := s.Run(t.Context(), "alice", "varq", append([]string{"status", "--json"}, options...)...)
	if err != nil || r.Code != 0 {
		t.Fatalf("varq status: %v %s", err, r.Stderr)
	}
	return decode[[]api.Reservation](t, r.Stdout)
}

// takenBack: varq cancel takes back a promise without a job, of the user's own.
func takenBack(t *testing.T, s *site.Site) {
	c, err := s.Client()
	if err != nil {
		t.Fatal(err)
	}
	var plan *api.Plan
	eventually(t, "a promise is made", func() bool {
		a, err := c.Plan(t.Context(), api.PlanRequest{
			Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 300}, BeginBy: time.Now().Unix() + 6*3600, Prob: .6,
		})
		plan = a.Plan
		return err == nil && plan != nil
	})
	cancel := func(user, plan string) site.Run {
		r, err := s.Run(t.Context(), user, "varq", "cancel", plan)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := cancel("alice", plan.ID); r.Code == 0 || !strings.Contains(r.Stderr, "you have no such plan") {
		t.Errorf("another user's plan: exit code %d, %q", r.Code, r.Stderr)
	}
	if r := cancel("root", plan.ID); r.Code != 0 || r.Stdout != "plan "+plan.ID+" is taken back\n" {
		t.Errorf("exit code %d, printed %q, said %q", r.Code, r.Stdout, r.Stderr)
	}
	eventually(t, "the promise is gone", func() bool {
		list, err := c.Reservations(t.Context(), api.ReservationsQuery{})
		if err != nil {
			return false
		}
		return slices.ContainsFunc(list, func(r api.Reservation) bool { return r.ID == plan.ID && r.State == api.StateCancelled })
	})

	file, _ := script(t, s, "bound", "", "")
	id, r := reserve(t, s, "alice", "--begin-by=now+6hours", "--prob=0.6", "--time=5", file)
	job := strconv.FormatInt(id, 10)
	if r := cancel("alice", r.ID); r.Code == 0 || !strings.Contains(r.Stderr, "job "+job+" has taken up the plan: cancel the job, with scancel "+job) {
		t.Errorf("a plan with a job: exit code %d, %q", r.Code, r.Stderr)
	}
	mustRun(t, s, "alice", "scancel", job)
}
