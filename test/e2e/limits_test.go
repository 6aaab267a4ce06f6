package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/site"
)

// TestLimitsAtOnce: limits on what several jobs have at once bind promises made one after the other,
// also before varqd has looked at the queue again.
func TestLimitsAtOnce(t *testing.T) {
	t.Parallel()
	s := site.ForTest(t, site.Options{
		History:   site.Calm(time.Now().Unix()),
		SlurmConf: "AccountingStorageEnforce=associations,limits,qos",
		Looks:     30 * time.Minute, // none during the test
	})
	for _, command := range [][]string{
		{"add", "qos", "single", "set", "MaxJobsPerUser=1"},
		{"add", "qos", "group", "set", "GrpJobs=1"},
		{"add", "qos", "cpus"},
		{"add", "qos", "waiting", "set", "MaxSubmitJobsPerUser=1"},
		{"modify", "user", "alice,bob", "set", "qos+=single,group,cpus,waiting"},
		{"modify", "user", "bob", "set", "MaxJobs=1"},
		{"modify", "qos", "cpus", "set", "GrpTRES=cpu=3"}, // the last, for which the test waits
	} {
		mustRun(t, s, "root", "sacctmgr", append([]string{"--immediate"}, command...)...)
	}
	file, _ := script(t, s, "limits", "", "")
	submit := func(user string, args ...string) site.Run {
		t.Helper()
		r, err := s.Run(t.Context(), user, "sbatch", slices.Concat([]string{"--begin-by=now+6hours", "--prob=0.6", "--time=5", "--job-name=limits"}, args, []string{file})...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	eventually(t, "varqd has read the limits", func() bool {
		r, err := s.Run(t.Context(), "bob", "varq", "quote", "--begin-by=now+6hours", "--time=5", "--prob=0.6", "--qos=cpus", "--ntasks=4")
		return err == nil && strings.Contains(r.Stdout, "GrpTRES=cpu")
	})
	for _, c := range []struct{ first, second, args, says string }{
		{"alice", "alice", "--qos=single", "QOS single (of one user) allows 1 jobs at once (MaxJobsPU)"},
		{"alice", "bob", "--qos=group", "QOS group allows 1 jobs at once (GrpJobs)"},
		{"alice", "alice", "--qos=cpus --ntasks=2", "QOS cpus allows 3 cpu at once (GrpTRES=cpu)"},
		{"alice", "alice", "--qos=waiting", "QOS waiting (of one user) allows 1 jobs in the queue at once (MaxSubmitJobsPU), and there are 1"},
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
}
