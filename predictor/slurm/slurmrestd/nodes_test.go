package slurmrestd

import (
	"encoding/json"
	"fmt"
	"strings"
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

// TestMaintenance: a node in maintenance is not drained: the reservation that has it tells until
// when.
func TestMaintenance(t *testing.T) {
	nodes, err := serve(t, api(answer(200, `{"nodes": [{"name": "a", "cpus": 4, "state": ["IDLE", "MAINTENANCE"]}, {"name": "b", "cpus": 4, "state": ["IDLE", "DRAIN"]}]}`))).Nodes(t.Context())
	if err != nil || len(nodes) != 2 || !nodes[0].Up || !nodes[0].Maintenance || nodes[0].Drained || nodes[1].Maintenance || !nodes[1].Drained {
		t.Errorf("%+v, %v", nodes, err)
	}
}

// TestCores has what Slurm 24.11 says of a reservation with cores of its nodes.
func TestCores(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "tres", "core_count": 5, "core_specializations": [{"node": "node1", "core": "0-3"}, {"node": "node2", "core": "0"}]}`: "map[node1:4 node2:1] <nil>",
		`{"name": "nodes", "core_count": 8, "core_specializations": []}`:                                                                "map[] <nil>",
		`{"name": "bad", "core_specializations": [{"node": "node1", "core": "x"}]}`:                                                     "map[node1:0] reservation bad: cores of node node1: ",
	} {
		var r reservation
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		v, err := r.limits()
		if got := fmt.Sprint(v.Cores, " ", err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
