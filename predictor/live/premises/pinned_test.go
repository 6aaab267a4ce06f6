package premises

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func TestMarkPinned(t *testing.T) {
	rules := &state{limits: limits.Cluster{
		Partitions: map[string]limits.Partition{"main": {Nodes: []string{"n1", "n2"}}},
		Nodes:      map[string]limits.Node{"n1": {Name: "n1", Features: []string{"ib", "old"}}, "n2": {Name: "n2", Features: []string{"ib"}}},
	}}
	var names []string
	for n := range 20 {
		names = append(names, fmt.Sprintf("n%d", n+1))
	}
	many := &state{limits: limits.Cluster{Partitions: map[string]limits.Partition{"main": {Nodes: names}}}}
	for _, v := range []struct {
		entry  slurm.QueueEntry
		rules  *state
		pinned bool
	}{
		{slurm.QueueEntry{}, nil, false},
		{slurm.QueueEntry{Features: "ib"}, nil, true},
		{slurm.QueueEntry{Features: "ib"}, rules, false},
		{slurm.QueueEntry{Features: "old"}, rules, true},
		{slurm.QueueEntry{NodeList: "n1"}, rules, true},
		{slurm.QueueEntry{Excluded: "n2"}, rules, true},
		{slurm.QueueEntry{Excluded: "n2"}, many, false},
		{slurm.QueueEntry{Excluded: "n[2-4]"}, many, true},
		{slurm.QueueEntry{Excluded: "n["}, many, true},
	} {
		p := New(Options{})
		if v.rules != nil {
			p.current.Store(v.rules)
		}
		v.entry.Job = workload.Job{Request: workload.Request{Partition: "main"}}
		queue := []slurm.QueueEntry{v.entry}
		if p.MarkPinned(queue); queue[0].Pinned != v.pinned {
			t.Errorf("%+v is pinned: %v", v.entry, queue[0].Pinned)
		}
	}
}
