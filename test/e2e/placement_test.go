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

// TestRiskyNodes: a promised job leaves out a node that has failed again and again, unless its user
// wants it.
func TestRiskyNodes(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{History: brief()})
	ctx := t.Context()
	if err := s.StopVarqd(); err != nil {
		t.Fatal(err)
	}
	const frail, down = "node3", 1
	now := time.Now().Unix()
	for day := range int64(100) {
		at := now - 86400*(day+1) - 7000
		if _, err := s.Query(ctx, "insert into lab_event_table (node_name, cluster_nodes, reason, reason_uid, state, time_start, time_end, tres) values ('%s', '', 'Not responding', 0, %d, %d, %d, '1=4')",
			frail, down, at, at+600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.StartVarqd(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "varqd knows which node is the riskiest", func() bool {
		run, err := s.Run(ctx, "alice", "varq", "nodes", "--most=1", "--noheader", "--format=Node")
		return err == nil && strings.TrimSpace(run.Stdout) == frail
	})
	file, _ := script(t, s, "risky", "", "sleep 2")
	option, _ := finishBy(30 * time.Minute)
	leaves := func(options ...string) string {
		t.Helper()
		id, _ := reserve(t, s, "alice", append(options, "--prob=0.5", "--time=15", file)...)
		job, err := s.Job(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		settled(t, s, "alice", id, api.StateKept)
		return job["ExcNodeList"]
	}
	if got := leaves(option); got != frail {
		t.Errorf("the job leaves out %q", got)
	}
	if got := leaves(option, "--risky-nodes=allow"); got != "(null)" && got != "" {
		t.Errorf("with --risky-nodes=allow it leaves out %q", got)
	}
	// Whose tasks need all CPUs needs that node, too.
	nodes := strings.Fields(mustRun(t, s, "alice", "sinfo", "--noheader", "--Node", "--partition=main", "--format=%c").Stdout)
	cpus := 0
	for _, n := range nodes {
		of, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		cpus += of
	}
	if got := leaves(option, fmt.Sprintf("--ntasks=%d", cpus)); got != "(null)" && got != "" {
		t.Errorf("a job of all %d CPUs leaves out %q", cpus, got)
	}
	quote := mustRun(t, s, "alice", "varq", "quote", "-N1", "--time=15", option, "--prob=0.5").Stdout
	if !strings.Contains(quote, "leaves out "+frail+": ") {
		t.Errorf("varq quote: %s", quote)
	}
	quote = mustRun(t, s, "alice", "varq", "quote", "-N1", "--time=15", option, "--prob=0.5", "--json").Stdout
	if plan := decode[api.PlanAnswer](t, quote).Plan; plan == nil || len(plan.Exclude) != 1 || !(plan.Safer > 0) {
		t.Errorf("quoted %+v", plan)
	}
}
