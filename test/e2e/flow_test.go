package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// flowFile writes a file with the jobs of a flow, a line each.
func flowFile(t *testing.T, s *site.Site, name string, jobs ...string) string {
	t.Helper()
	path := filepath.Join(s.JobDir(), name+".yaml")
	text := "name: " + name + "\njobs:\n"
	for _, j := range jobs {
		text += "  - {" + j + "}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// work is what follows sbatch for a job of a flow, as YAML.
func work(script string) string {
	return `sbatch: "--time=12:00:00 --output=/dev/null --wrap='` + script + `'"`
}

// promiseFlow has the flow of a file promised to alice.
func promiseFlow(t *testing.T, s *site.Site, path string) *api.FlowPromise {
	t.Helper()
	a := decode[api.FlowAnswer](t, mustRun(t, s, "alice", "varq", "flow", path, "--finish-by=now+3days", "--prob=0.2", "--json").Stdout)
	if a.Promised == nil || a.Promised.ID == "" {
		t.Fatalf("%+v", a)
	}
	return a.Promised
}

// flowSettled waits until a promise of a flow of alice's is settled.
func flowSettled(t *testing.T, s *site.Site, id string) (settled api.FlowPromise) {
	t.Helper()
	eventually(t, "flow "+id+" is settled", func() bool {
		list := decode[api.Flows](t, mustRun(t, s, "alice", "varq", "flow", "--old", "--json").Stdout).Flows
		i := slices.IndexFunc(list, func(f api.FlowPromise) bool { return f.ID == id })
		if i < 0 {
			t.Fatalf("%s is not in %+v", id, list)
		}
		settled = list[i]
		return settled.State != api.StatePending
	})
	return settled
}

// flows: the end of a whole flow is promised, and kept; it is missed at once where a job fails that
// others need, and void where one is cancelled. What is refused leaves no job behind.
func flows(t *testing.T, s *site.Site) {
	kept := promiseFlow(t, s, flowFile(t, s, "kept",
		"name: report, afterok: [left, right], "+work("true"), "name: first, "+work("sleep 2"),
		"name: left, afterok: first, "+work("sleep 3"), "name: right, afterany: first, "+work("true"), "name: sorry, afternotok: left, "+work("true")))
	failed := promiseFlow(t, s, flowFile(t, s, "failed", "name: bad, "+work("sleep 2; exit 1"), "name: next, afterok: bad, "+work("true")))
	cancelled := promiseFlow(t, s, flowFile(t, s, "cancelled", "name: long, "+work("sleep 600"), "name: after, afterany: long, "+work("true")))
	if len(kept.Jobs) != 4 || len(failed.Jobs) != 2 {
		t.Errorf("%+v, %+v", kept, failed)
	}
	eventually(t, "the tree has the job that runs", func() bool {
		tree := mustRun(t, s, "alice", "varq", "flow").Stdout
		return strings.Contains(tree, fmt.Sprintf("%d long: runs", cancelled.Jobs[0])) && strings.Contains(tree, fmt.Sprintf("└─ %d after: waits", cancelled.Jobs[1]))
	})
	mustRun(t, s, "alice", "scancel", strconv.FormatInt(cancelled.Jobs[0], 10))
	for _, c := range []struct {
		id, state, note string
	}{
		{kept.ID, api.StateKept, ""},
		{failed.ID, api.StateMissed, " never starts: the jobs that it waits for did not end as it needs"},
		{cancelled.ID, api.StateCancelled, " was cancelled before the deadline"},
	} {
		if f := flowSettled(t, s, c.id); f.State != c.state || !strings.Contains(f.Note, c.note) {
			t.Errorf("%+v", f)
		}
	}
	path := flowFile(t, s, "refused", "name: toolong, "+work("true"))
	r, err := s.Run(t.Context(), "alice", "varq", "flow", path, "--finish-by=now+1minute", "--prob=0.9")
	if err != nil || r.Code != 1 || !strings.HasPrefix(r.Stdout, "Cannot be promised: ") || len(jobs(t, s, "alice", "toolong")) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	mustRun(t, s, "alice", "scancel", "--name=next,sorry")
}

// TestFlow is a flow of 30 jobs, with varqd killed in the middle.
func TestFlow(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 4, History: calmAndDoomed()})
	jobs := []string{"name: first, " + work("sleep 2")}
	var middle []string
	for i := range 28 {
		name := fmt.Sprintf("middle%d", i)
		middle = append(middle, name)
		jobs = append(jobs, "name: "+name+", afterok: first, "+work("sleep 2"))
	}
	jobs = append(jobs, "name: last, afterok: ["+strings.Join(middle, ", ")+"], "+work("true"))
	p := promiseFlow(t, s, flowFile(t, s, "thirty", jobs...))
	if err := s.KillVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := flowSettled(t, s, p.ID); f.State != api.StateKept || len(f.Jobs) != 30 || f.Ended == 0 {
		t.Errorf("%+v", f)
	}
}

// TestChain is a chain of five jobs, each of which is stopped at its time limit, and one of which
// is requeued. The next one is running when that happens, or soon after.
func TestChain(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 4, History: brief()})
	file, out := script(t, s, "chain", "", "trap 'exit 1' TERM; sleep 600 & wait")
	begun := mustRun(t, s, "alice", "env", "XDG_STATE_HOME="+s.JobDir(), "varq", "chain", "--links=5", "--prob=0.5", "--", "sbatch", "--time=1", "--open-mode=append", "--requeue", file).Stdout
	var id string
	var first int64
	if _, err := fmt.Sscanf(begun, "chain %6s: job %d", &id, &first); err != nil {
		t.Fatalf("%q: %v", begun, err)
	}
	works := func() int {
		if _, err := os.Stat(out); err != nil {
			return 0
		}
		return len(stamps(t, out, "work"))
	}
	eventually(t, "the first link works", func() bool { return works() == 1 })
	mustRun(t, s, "root", "scontrol", "requeue", strconv.FormatInt(first, 10))
	var told string
	eventually(t, "all five links have worked", func() bool {
		told = mustRun(t, s, "alice", "env", "XDG_STATE_HOME="+s.JobDir(), "varq", "chain").Stdout
		links := map[string]bool{}
		for _, job := range regexp.MustCompile(`job \d+:`).FindAllString(told, -1) {
			links[job] = true
		}
		return len(links) == 5
	})
	if !strings.HasPrefix(told, "chain "+id+"\n") || strings.Count(told, "after the one before it") < 4 {
		t.Errorf("%s", told)
	}
	t.Log(told)
	mustRun(t, s, "alice", "env", "XDG_STATE_HOME="+s.JobDir(), "varq", "chain", "stop", id)
	mustRun(t, s, "alice", "scancel", "--user=alice")
}
