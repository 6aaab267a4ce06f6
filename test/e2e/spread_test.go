package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestSpread: Slurm spreads four tasks over four nodes, because each has one CPU free. What is
// quoted as the most is what four nodes cost, and what was held is told of the nodes that the job
// has had.
func TestSpread(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: site.Calm(time.Now().Unix())})
	for i := range 8 {
		mustRun(t, s, "root", "sbatch", "--nodelist=node"+strconv.Itoa(i+1), "--ntasks=3", "--nodes=1", "--time=60", "--output=/dev/null", "--wrap=sleep 3000")
	}
	eventually(t, "each node has one CPU free", func() bool {
		r := mustRun(t, s, "root", "squeue", "--noheader", "--states=RUNNING", "--format=%D")
		return len(strings.Fields(r.Stdout)) == 8
	})
	file, _ := script(t, s, "spread", "", "sleep 1")

	const says = "the costs are those on 4 nodes, over which Slurm may spread the job; --nodes says on how many"
	other, _ := script(t, s, "other", "", "sleep 1")
	var id, at int64
	var r api.Reservation
	s.InTime(t, lead, func(lead time.Duration) bool {
		run := mustRunBy(t, s, "alice", "sbatch", func() []string {
			var option string
			option, at = deadlineIn(lead)
			return []string{"--parsable", option, "--prob=0.6", "--time=5", "--ntasks=4", file}
		})
		var err error
		id, err = strconv.ParseInt(strings.TrimSpace(run.Stdout), 10, 64)
		if err != nil || !strings.Contains(run.Stderr, says) {
			t.Fatalf("%v: %s, said %q", err, run.Stdout, run.Stderr)
		}
		one, promised, _ := reserveIn(t, s, lead, "bob", "--prob=0.6", "--time=5", "--ntasks=1", other)
		if promised.MostNodes() != 1 {
			t.Errorf("one task is promised on %d nodes", promised.MostNodes())
		}
		r = settled(t, s, "alice", id, api.StateKept, api.StateMissed)
		ones := settled(t, s, "bob", one, api.StateKept, api.StateMissed)
		return r.State == api.StateKept && ones.State == api.StateKept && r.Start < r.WorkStart
	})
	if r.Allocated != 4 || r.WorkStart < at {
		t.Fatalf("the job has had %d nodes, and began its work at %d, not %d: the test is of no use", r.Allocated, r.WorkStart, at)
	}
	held := 4 * float64(r.WorkStart-r.Start)
	if held <= 0 || held > r.Ceiling.NodeSeconds {
		t.Errorf("held for %v node-seconds, and at most %v were quoted", held, r.Ceiling.NodeSeconds)
	}
	rows := decode[api.Report](t, mustRun(t, s, "alice", "varq", "report", "--json").Stdout).Rows
	if want := 4 * float64(r.End-r.Start); len(rows) != 1 || rows[0].Kept+rows[0].Missed == 1 && rows[0].Used != want {
		t.Errorf("the report has %+v, and the job has had its nodes for %v node-seconds", rows, want)
	}
	story := mustRun(t, s, "alice", "varq", "status", strconv.FormatInt(id, 10)).Stdout
	if want := fmt.Sprintf("%.2f node-hours", held/3600); !strings.Contains(story, want) || !strings.Contains(story, "1 node, was given 4") {
		t.Errorf("the story does not tell of %s:\n%s", want, story)
	}

	// A number of nodes is what the costs are of, also where it is more than the tasks need.
	quote := mustRun(t, s, "alice", "varq", "quote", "--begin-by=now+6hours", "--prob=0.6", "--time=5", "--ntasks=4", "--nodes=2", "--json")
	if p := decode[api.PlanAnswer](t, quote.Stdout).Plan; p == nil || p.MostNodes() != 2 {
		t.Errorf("--nodes=2: %s", quote.Stdout)
	}
}
