package told

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Names of jobs are their users', and are shown as a terminal may show them.
func TestFlowTreeIsPrintable(t *testing.T) {
	f := &api.FlowPromise{
		ID: "flow", User: "bob", Jobs: []int64{7}, State: api.StatePending,
		Flow: &api.Flow{Jobs: []api.FlowJob{{Job: 7, Name: "\x1b[2Jevil\n  8 other: runs"}}},
	}
	if tree := FlowTree(f, time.UTC); strings.Contains(tree, "\x1b") || strings.Count(tree, "\n") != 2 || !strings.Contains(tree, "evil") {
		t.Errorf("%q", tree)
	}
}
