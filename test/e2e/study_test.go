package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestStudy runs a study as a job array. Its results equal those of a run on one machine,
// and the array's tasks print nothing.
func TestStudy(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 2})
	out := filepath.Join(s.JobDir(), "study")
	args := []string{"study", "downey", "--quick", "--json"}
	array := mustRun(t, s, "alice", "varq-lab", append(args, "--slurm", "--out="+out)...)
	alone := mustRun(t, s, "alice", "varq-lab", args...)
	if diff := cmp.Diff(decode[study.Report](t, alone.Stdout), decode[study.Report](t, array.Stdout)); diff != "" {
		t.Errorf("the array found something else (-alone +array):\n%s", diff)
	}
	if ran := mustRun(t, s, "root", "sacct", "--noheader", "--parsable2", "--allocations", "--user=alice", "--format=JobName,State"); ran.Stdout == "" {
		t.Error("Slurm has run nothing")
	}
	logs, err := filepath.Glob(filepath.Join(out, "slurm", "*.out"))
	if err != nil || len(logs) == 0 {
		t.Errorf("the tasks left no logs: %v", err)
	}
	for _, log := range logs {
		if info, err := os.Stat(log); err != nil || info.Size() > 0 {
			t.Errorf("%s is not empty (%v)", log, err)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "report.md")); err != nil {
		t.Error(err)
	}
}
