package slurmrestd

import (
	"encoding/json"
	"testing"
)

// TestThreads: the CPUs of a core are as Slurm counts CPUs, which may be cores.
func TestThreads(t *testing.T) {
	for text, want := range map[string]int32{
		`{"cpus": 8, "sockets": 2, "cores": 2, "threads": 2}`: 2,
		`{"cpus": 4, "sockets": 2, "cores": 2, "threads": 2}`: 1,
		`{"cpus": 2, "sockets": 2, "cores": 2, "threads": 1}`: 1,
		`{"cpus": 8, "threads": 2}`:                           0,
	} {
		var n node
		if err := json.Unmarshal([]byte(text), &n); err != nil || n.threads() != want {
			t.Errorf("%s: %d CPUs of a core, %v", text, n.threads(), err)
		}
	}
}

// TestMaintenance: a node in maintenance is not drained: the reservation that has it tells until when.
func TestMaintenance(t *testing.T) {
	nodes, err := serve(t, api(answer(200, `{"nodes": [{"name": "a", "cpus": 4, "state": ["IDLE", "MAINTENANCE"]}, {"name": "b", "cpus": 4, "state": ["IDLE", "DRAIN"]}]}`))).Nodes(t.Context())
	if err != nil || len(nodes) != 2 || !nodes[0].Up || !nodes[0].Maintenance || nodes[0].Drained || nodes[1].Maintenance || !nodes[1].Drained {
		t.Errorf("%+v, %v", nodes, err)
	}
}
