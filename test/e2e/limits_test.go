package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/site"
)

// TestLimits: what a limit of Slurm's would keep from starting is not promised.
func TestLimits(t *testing.T) {
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History:   site.Calm(time.Now().Unix()),
		SlurmConf: "AccountingStorageEnforce=associations,limits,qos\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=100\nMaxMemPerNode=2000\n",
		Looks:     30 * time.Minute, // none during the test
	})
	for _, command := range [][]string{
		{"add", "qos", "single", "set", "MaxJobsPerUser=1"},
		{"add", "qos", "group", "set", "GrpJobs=1"},
		{"add", "qos", "cpus"},
		{"add", "qos", "waiting", "set", "MaxSubmitJobsPerUser=1"},
		{"add", "qos", "node", "set", "MaxTRESPerNode=cpu=1"},
		{"add", "qos", "minutes", "set", "GrpTRESRunMins=cpu=9"},
		{"add", "qos", "together", "set", "GrpTRESRunMins=cpu=9"},
		{"add", "qos", "small", "set", "MaxTRESPerJob=cpu=2", "GrpTRESRunMins=cpu=10000"},
		{"modify", "user", "alice,bob", "set", "qos+=single,group,cpus,waiting,node,minutes,together,small"},
		{"modify", "user", "bob", "set", "MaxJobs=1"},
		{"modify", "user", "alice", "set", "MaxTRESPerNode=cpu=2"},
		{"add", "user", "alice", "account=chem", "GrpTRESRunMins=cpu=19"},
		{"modify", "qos", "cpus", "set", "GrpTRES=cpu=3"}, // the last, for which the test waits
	} {
		mustRun(t, s, "root", "sacctmgr", append([]string{"--immediate"}, command...)...)
	}
	eventually(t, "varqd has read the limits", func() bool {
		r, err := s.Run(t.Context(), "bob", "varq", "quote", "--begin-by=now+6hours", "--time=5", "--prob=0.6", "--qos=cpus", "--ntasks=4")
		return err == nil && strings.Contains(r.Stdout, "GrpTRES=cpu")
	})
	t.Run("at once", func(t *testing.T) { limitsAtOnce(t, s) })
	t.Run("never", func(t *testing.T) { limitsNever(t, s) })
	t.Run("smaller", func(t *testing.T) { smaller(t, s) })
}

// smaller: where a job is too large, the options offered make it one that is promised.
func smaller(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "smaller", "", "")
	asked := []string{"--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=smaller", "--qos=small"}
	for _, c := range []struct{ args, offer string }{
		{"--nodes=2 --ntasks=4", "--nodes=1 --ntasks=2"},
		{"--ntasks=2 --cpus-per-task=2", "--ntasks=1"},
		{"--cpus-per-task=4", "--cpus-per-task=2"},
		{"--ntasks=4 --ntasks-per-node=2", "--ntasks=2"},
	} {
		args := slices.Concat(asked, strings.Fields(c.args))
		r, err := s.Run(t.Context(), "alice", "sbatch", append(args, file)...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Code == 0 || !strings.Contains(r.Stderr, "varq: possible: "+c.offer+"   (") {
			t.Errorf("%s: exit code %d, said %q", c.args, r.Code, r.Stderr)
		}
		// the last of an option counts
		mustRun(t, s, "alice", "sbatch", slices.Concat(args, strings.Fields(c.offer), []string{file})...)
	}
	mustRun(t, s, "alice", "scancel", "--name=smaller")
}

// limitsNever: a job that alone is more than a limit allows would never start.
func limitsNever(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "never", "", "")
	asked := []string{"--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=never"}
	for _, c := range []struct{ args, says, reason string }{
		{"--qos=node --ntasks=2 --nodes=1", "QOS node allows 1 cpu a node (MaxTRESPerNode=cpu)", "QOSMaxCpuPerNode"},
		{"--ntasks=3 --nodes=1", "user alice in account phys allows 2 cpu a node (MaxTRESPerNode=cpu)", "AssocMaxCpuPerNode"},
		{"--qos=minutes --ntasks=2", "--time=00:05:00: QOS minutes allows 00:04:00 to a job of this size (GrpTRESRunMins=cpu)", "QOSGrpCPURunMinutesLimit"},
		{"--account=chem --ntasks=4 --nodes=2", "--time=00:05:00: user alice in account chem allows 00:04:00 to a job of this size (GrpTRESRunMins=cpu)", "AssocGrpCPURunMinutesLimit"},
		{"--mem=2001", "partition main allows 2000 MiB of memory a node (MaxMemPerNode), and the job asks for 2001 (--mem)", "MaxMemPerLimit"},
		{"--mem=0", "partition main allows 2000 MiB of memory a node (MaxMemPerNode), and --mem=0 asks for all of a node's", "MaxMemPerLimit"},
		{"--mem-per-cpu=0", "partition main allows 2000 MiB of memory a node (MaxMemPerNode), and --mem-per-cpu=0 asks for all of a node's", "MaxMemPerLimit"},
		{"--mem-per-cpu=1500 --ntasks=2 --nodes=1", "partition main allows 2000 MiB of memory a node (MaxMemPerNode), and the job asks for 3000 (--mem-per-cpu)", "MaxMemPerLimit"},
	} {
		args := strings.Fields(c.args)
		r, err := s.Run(t.Context(), "alice", "sbatch", slices.Concat(asked, args, []string{file})...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Code == 0 || !strings.Contains(r.Stderr, "varq: no promise: "+c.says) {
			t.Errorf("%s: exit code %d, said %q", c.args, r.Code, r.Stderr)
		}
		heldBack(t, s, c.reason, args...)
	}

	// The time to hold the nodes is within the limit, too.
	id, r := reserve(t, s, "alice", append(asked, "--qos=minutes", "--mem=2000", file)...)
	if r.TimeLimit > 9*60 {
		t.Errorf("promised %+v", r)
	}
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
}

// limitsAtOnce: limits on what several jobs have at once bind promises made one after the other,
// also before varqd has looked at the queue again.
func limitsAtOnce(t *testing.T, s *site.Site) {
	file, _ := script(t, s, "limits", "", "")
	submit := func(user string, args ...string) site.Run {
		t.Helper()
		r, err := s.Run(t.Context(), user, "sbatch", slices.Concat([]string{"--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=limits"}, args, []string{file})...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct{ first, second, args, says string }{
		{"alice", "alice", "--qos=single", "QOS single (of one user) allows 1 jobs at once (MaxJobsPU)"},
		{"alice", "bob", "--qos=group", "QOS group allows 1 jobs at once (GrpJobs)"},
		{"alice", "alice", "--qos=cpus --ntasks=2", "QOS cpus allows 3 cpu at once (GrpTRES=cpu)"},
		{"alice", "alice", "--qos=waiting", "QOS waiting (of one user) allows 1 jobs in the queue at once (MaxSubmitJobsPU), and there are 1"},
		{"alice", "bob", "--qos=together", "--time=00:05:00: QOS together leaves a job of this size 00:0"},
		{"bob", "bob", "--partition=main", "user bob in account chem allows 1 jobs at once (MaxJobs)"},
	} {
		args := strings.Fields(c.args)
		if r := submit(c.first, args...); r.Code != 0 {
			t.Errorf("%s: the first of %s: exit code %d, said %q", c.args, c.first, r.Code, r.Stderr)
		}
		if r := submit(c.second, args...); r.Code == 0 || !strings.Contains(r.Stderr, "varq: no promise: "+c.says) {
			t.Errorf("%s: the second, of %s: exit code %d, said %q", c.args, c.second, r.Code, r.Stderr)
		}
	}
	mustRun(t, s, "root", "scancel", "--name=limits")
}
