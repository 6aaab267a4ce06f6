package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// TestAgent: memory errors that grow on a node are seen by users, and still are when varqd has been
// restarted. No other user speaks for a node, nor root for one that does not exist.
func TestAgent(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 2, History: brief()})
	root := filepath.Join(s.JobDir(), "node1")
	mc := filepath.Join(root, "sys/devices/system/edac/mc/mc0")
	if err := os.MkdirAll(mc, 0o755); err != nil {
		t.Fatal(err)
	}
	errors := func(n int) {
		if err := os.WriteFile(filepath.Join(mc, "ce_count"), fmt.Appendln(nil, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	errors(3)
	configuration := filepath.Join(s.JobDir(), "agent.yaml")
	if err := os.WriteFile(configuration, fmt.Appendf(nil, "client: {endpoint: \"tcp://%s\", munge_socket: %s}\n", s.Address(), s.MungeSocket()), 0o644); err != nil {
		t.Fatal(err)
	}
	// run runs an agent until the test ends, and returns what it has logged.
	run := func(user, node string) func() string {
		t.Helper()
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := s.Command(t.Context(), user, s.Agent(), "-N", node, "--interval=10s", "--root="+root, "--config="+configuration)
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); log.Close() })
		return func() string {
			text, err := os.ReadFile(log.Name())
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	see := func(node string) api.Node {
		list := decode[api.Nodes](t, mustRun(t, s, "alice", "varq", "nodes", "--json").Stdout)
		i := slices.IndexFunc(list.Nodes, func(n api.Node) bool { return n.Name == node })
		if i < 0 {
			t.Fatalf("there is no %s: %+v", node, list)
		}
		return list.Nodes[i]
	}
	// varqd first reads the nodes.
	eventually(t, "varqd knows the nodes", func() bool {
		got, err := s.Run(t.Context(), "alice", "varq", "nodes")
		return err == nil && got.Code == 0
	})
	log := run("root", "node1")
	for of, says := range map[[2]string]string{
		{"alice", "node2"}: "alice may not speak for a node",
		{"root", "node9"}:  `Slurm has no node`,
	} {
		refused := run(of[0], of[1])
		eventually(t, of[0]+"'s agent is refused", func() bool { return strings.Contains(refused(), says) })
	}
	eventually(t, "the agent is heard", func() bool { return see("node1").Heard != 0 })
	errors(8)
	noticed := func() bool {
		n := see("node1").Noticed
		return len(n) == 1 && n[0].Kind == "corrected memory errors" && n[0].What == "memory_errors_corrected of mc0 has grown from 3 to 8"
	}
	eventually(t, "memory errors are noticed", noticed)
	if n := see("node2"); n.Heard != 0 || n.Noticed != nil {
		t.Errorf("of node2 alice's word is taken: %+v", n)
	}
	if err := s.StopVarqd(); err != nil {
		t.Fatal(err)
	}
	if err := s.StartVarqd(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "varqd knows the nodes again", func() bool {
		got, err := s.Run(t.Context(), "alice", "varq", "nodes")
		return err == nil && got.Code == 0
	})
	if !noticed() {
		t.Errorf("after a restart: %+v", see("node1"))
	}
	table := mustRun(t, s, "alice", "varq", "nodes", "-P", "-n", "-o", "Node,Noticed").Stdout
	if !strings.Contains(table, "node1|") || !strings.Contains(table, ": memory_errors_corrected of mc0 has grown from 3 to 8\n") {
		t.Errorf("varq nodes: %s", table)
	}
	if t.Failed() {
		t.Logf("the agent's log:\n%s", log())
	}
}
