package status

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// A job that is a member of a group says so: its work may never run.
func TestStoryOfMember(t *testing.T) {
	env := &cli.Env{Now: func() int64 { return 1000 }, Zone: time.UTC}
	for home, want := range map[string]string{"": "kept by this cluster:", "beta": "kept by cluster beta:"} {
		r := api.Reservation{State: api.StatePending, Job: 7, Plan: api.Plan{Group: "gggggggggggg", Home: home}}
		if got := story(env, r, api.GroupState{}, false); !strings.Contains(got, "gggggggggggg, "+want) {
			t.Errorf("%q: %s", home, got)
		}
	}
	member := api.Reservation{State: api.StatePending, Job: 7, Plan: api.Plan{Group: "gggggggggggg", Prob: .02}}
	for want, group := range map[string]api.GroupState{
		"the group with probability 0.90 (estimate 0.97)\n": {Prob: .9, Estimate: .97, Members: []api.GroupMember{{}, {}}},
		"does not tell now\n":                               {},
	} {
		if got := story(env, member, group, false); !strings.Contains(got, want) || strings.Contains(got, "0.02") {
			t.Errorf("a member of a group: %s", got)
		}
	}
	member.State, member.Now = api.StateHolding, new(1.)
	if got := story(env, member, api.GroupState{}, false); strings.Contains(got, "1.00") || !strings.Contains(got, " it has its nodes; its group decides") {
		t.Errorf("a member that waits for others: %s", got)
	}
	if got := story(env, api.Reservation{State: api.StatePending, Job: 7}, api.GroupState{}, false); strings.Contains(got, "Group") {
		t.Errorf("a job alone: %s", got)
	}
}

// A group is promised what its home says, and if that does not tell, what the member's site has
// noted.
func TestPromiseGroups(t *testing.T) {
	list := []api.Reservation{
		{Plan: api.Plan{Group: "a", Prob: .02, GroupProb: .9}}, {Plan: api.Plan{Group: "b", Prob: .02, GroupProb: .9}}, {Plan: api.Plan{Prob: .9}},
	}
	promiseGroups(list, map[string]api.GroupState{"a": {Prob: .8}, "b": {}})
	if list[0].GroupProb != .8 || list[1].GroupProb != .9 || list[2].GroupProb != 0 {
		t.Errorf("got %+v", list)
	}
}

// Of a job that waits again, the list has no start: not that of the run before.
func TestStatusOfRequeued(t *testing.T) {
	env := &cli.Env{Zone: time.UTC, Now: func() int64 { return 3000 }}
	r := api.Reservation{State: api.StatePending, Job: 7, Eligible: 1000, Start: 1100, WorkStart: 1200}
	for _, column := range allColumns(env) {
		switch got := column.Value(r); column.Name {
		case "Eligible", "Start", "WorkStart", "End":
			if got != cli.None {
				t.Errorf("%s is %s", column.Name, got)
			}
		case "Held":
			if got != "00:01:40" {
				t.Errorf("held for %s", got)
			}
		}
	}
}
