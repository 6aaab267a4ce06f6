package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Tidy cancels all jobs of a cluster that tests share, and waits until every node is up and idle.
func (c *Cluster) Tidy(t testing.TB) {
	t.Helper()
	run := func(name string, args ...string) string {
		out, err := c.Command(t.Context(), "root", name, args...).CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(out))
	}
	want := fmt.Sprintf("idle %d", len(c.NodeNames()))
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		nodes, jobs := run("sinfo", "--noheader", "--partition=main", "--format=%T %D"), run("squeue", "--noheader", "--format=%i")
		if nodes == want && jobs == "" {
			return
		}
		if time.Since(began) > Patience {
			t.Fatalf("nodes: %s; jobs: %s", nodes, jobs)
		}
		if jobs != "" {
			run("scancel", strings.Fields(jobs)...)
		} else {
			// which a node that is up refuses
			run("scontrol", "update", "NodeName="+strings.Join(c.NodeNames(), ","), "State=RESUME")
		}
	}
}
