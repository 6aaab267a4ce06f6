package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// dependencies: a start and an end are promised of jobs that wait for others, and kept; and missed
// at once, with the reason, where these fail, also if Slurm then cancels the job. If its user does,
// the promise is void.
func dependencies(t *testing.T, s *site.Site) {
	submit := func(args ...string) int64 {
		t.Helper()
		r := mustRun(t, s, "alice", "sbatch", append([]string{"--parsable", "--time=5", "--output=/dev/null"}, args...)...)
		id, err := strconv.ParseInt(strings.TrimSpace(r.Stdout), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	good, bad := submit("--wrap=sleep 60"), submit("--wrap=sleep 70; exit 1")
	awaitLook(t, s)
	starts := submit("--begin-by=now+30minutes", "--best-effort", "--prob=0.5", fmt.Sprintf("--dependency=afterok:%d", good), "--wrap=sleep 1")
	ends := submit("--finish-by=now+1day", "--time=12:00:00", "--prob=0.5", fmt.Sprintf("--dependency=afterany:%d,after:%d", bad, good), "--wrap=sleep 1")
	never := submit("--begin-by=now+30minutes", "--best-effort", "--prob=0.5", fmt.Sprintf("--dependency=afterok:%d", bad), "--wrap=sleep 1")
	killed := submit("--begin-by=now+30minutes", "--best-effort", "--prob=0.5", "--kill-on-invalid-dep=yes", fmt.Sprintf("--dependency=afterok:%d", bad), "--wrap=sleep 1")
	cancelled := submit("--begin-by=now+30minutes", "--best-effort", "--prob=0.5", fmt.Sprintf("--dependency=afterok:%d", bad), "--wrap=sleep 1")
	awaitLook(t, s)
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(cancelled, 10))
	settled(t, s, "alice", cancelled, api.StateCancelled)
	told := decode[api.When](t, mustRun(t, s, "alice", "varq", "when", "--json", strconv.FormatInt(starts, 10)).Stdout)
	if j := told.Jobs[0]; len(told.Jobs) != 1 || j.Start == nil || len(j.After) != 1 || j.After[0].Job != good || j.Plan == "" {
		t.Errorf("%+v", j)
	}
	settled(t, s, "alice", starts, api.StateKept)
	settled(t, s, "alice", ends, api.StateKept)
	for _, job := range []int64{never, killed} {
		if r := settled(t, s, "alice", job, api.StateMissed); !strings.Contains(r.Note, "it never starts: the jobs that it waits for did not end as it needs") {
			t.Errorf("%q", r.Note)
		}
	}
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(never, 10))
}
