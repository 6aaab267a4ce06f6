package slurmrestd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// TestNeeds: what jobs that wait and past jobs need of their nodes, in the forms of several
// versions of Slurm.
func TestNeeds(t *testing.T) {
	cpus := func(n int64) workload.NodeNeed { return workload.NodeNeed{Amount: n, Option: "--cpus-per-task"} }
	a100 := func(count int64, perNode bool, option string) []workload.Gres {
		return []workload.Gres{{Name: "gpu", Type: "a100", Count: count, PerNode: perNode, Option: "--gres=" + option}}
	}
	for text, want := range map[string]workload.Needs{
		`{}`: {NodeCPUs: cpus(1)},
		`{"features":"ib&fast","required_nodes":"n[1-2]","excluded_nodes":"n3"}`: {
			NodeCPUs: cpus(1), Constraint: "ib&fast", NodeList: workload.NamedNodes{Names: []string{"n1", "n2"}, Option: "--nodelist=n[1-2]"},
			Exclude: workload.NamedNodes{Names: []string{"n3"}, Option: "--exclude=n3"},
		},
		`{"required_nodes":"n["}`: {NodeCPUs: cpus(1)},
		`{"cpus_per_task":4,"minimum_cpus_per_node":{"set":true,"number":2},"memory_per_cpu":{"set":true,"number":100},"minimum_tmp_disk_per_node":7}`: {
			NodeCPUs: cpus(4), NodeMemory: workload.NodeNeed{Amount: 400, Option: "--mem-per-cpu"}, NodeTmp: workload.NodeNeed{Amount: 7, Option: "--tmp"},
		},
		`{"memory_per_node":500}`:                                                    {NodeCPUs: cpus(1), NodeMemory: workload.NodeNeed{Amount: 500, Option: "--mem"}},
		`{"tres_per_node":"gres:gpu:a100:2"}`:                                        {NodeCPUs: cpus(1), Gres: a100(2, true, "gpu:a100:2")},
		`{"tres_per_node":"gres/gpu:a100:2","tres_req_str":"cpu=1,gres/gpu:a100=4"}`: {NodeCPUs: cpus(1), Gres: a100(2, true, "gpu:a100:2")},
		`{"tres_per_job":"gres/gpu:a100=3"}`:                                         {NodeCPUs: cpus(1), Gres: a100(3, false, "gpu:a100:3")},
		`{"tres_per_task":"cpu=2,gres/gpu:a100:1","tasks":{"set":true,"number":4}}`:  {NodeCPUs: cpus(1), Gres: a100(4, false, "gpu:a100:1")},
		`{"tres_req_str":"cpu=1,gres/gpu=4,gres/gpu:a100=4"}`:                        {NodeCPUs: cpus(1), Gres: a100(4, false, "gpu:a100")},
	} {
		var j queueJob
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		requested, err := slurm.ParseTRES(j.TRESReq)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, j.needs(requested), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for text, want := range map[string]workload.Needs{
		`{"required":{"CPUs":2,"memory":100}}`: {},
		`{"constraints":"big","required":{"memory_per_node":{"set":true,"number":100},"memory_per_cpu":{"set":false,"number":0}}}`: {
			Constraint: "big", NodeMemory: workload.NodeNeed{Amount: 100, Option: "--mem"},
		},
		`{"tres":{"requested":[{"type":"cpu","name":"","count":2},{"type":"gres","name":"gpu:a100","count":2}]}}`: {
			Gres: a100(2, false, "gpu:a100"),
		},
	} {
		var j pastJob
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, j.needs(j.TRES.Requested.counts()), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// GPUs that accounting does not count are known from what the job asks for of each node, or in all.
func TestUncountedGPUs(t *testing.T) {
	for text, want := range map[string]int32{
		`"node_count":2,"tres_per_node":"gres/gpu:a100:2"`:                              4,
		`"node_count":2,"tres_per_job":"gres/gpu:3"`:                                    3,
		`"node_count":2,"tres_per_task":"gres/gpu:1","tasks":{"set":true,"number":4}`:   4,
		`"node_count":2,"tres_per_node":"gres/gpu:2","tres_req_str":"cpu=2,gres/gpu=6"`: 6,
		`"node_count":2,"tres_per_node":"gres/disk:2"`:                                  0,
	} {
		c := serve(t, api(answer(200, `{"jobs":[{"job_id":7,"job_state":["PENDING"],`+text+`,`+times+`}]}`)))
		if j, err := c.Job(t.Context(), 7); err != nil || j.GPUs != want {
			t.Errorf("%s: %d GPUs, want %d; %v", text, j.GPUs, want, err)
		}
	}
}
