package limits

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestAwake: a job needs no node to be powered up if enough are up and idle.
func TestAwake(t *testing.T) {
	c := Cluster{
		Partitions: map[string]Partition{"main": {Nodes: strings.Fields("a b c d"), Resume: 90}, "short": {Nodes: []string{"a"}}},
		Nodes: map[string]Node{
			"a": {CPUs: 4, Usable: true, Awake: true}, "b": {CPUs: 4, Usable: true, Awake: true}, "c": {CPUs: 4, Usable: true}, "d": {CPUs: 4, Awake: true},
		},
	}
	for size, want := range map[workload.Size]bool{{}: true, {Nodes: 2, CPUs: 8}: true, {Nodes: 2, CPUs: 9}: false, {Nodes: 3, CPUs: 3}: false} {
		r := workload.Request{Partition: "main", Size: size}
		if c.Job(r, nil).awake() != want {
			t.Errorf("%+v: %v", size, !want)
		}
		if seconds, rule := c.Job(r, nil).Resume(); seconds != 90 || !strings.Contains(rule.Says, "may take 00:01:30 to be up again (ResumeTimeout)") {
			t.Errorf("%d s: %+v", seconds, rule)
		}
		if seconds, rule := c.Job(r, nil).Waking(); (seconds == 0) != want || (rule == Rule{}) != want {
			t.Errorf("%+v, eligible now: %d s: %+v", size, seconds, rule)
		}
	}
	if seconds, rule := c.Job(workload.Request{Partition: "short"}, nil).Resume(); seconds != 0 || rule != (Rule{}) {
		t.Errorf("where no node is powered down: %d s, %+v", seconds, rule)
	}
}
