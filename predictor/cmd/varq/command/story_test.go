package command

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// What is said to come next for an endangered promise depends on whether its job can still be moved.
func TestNextOfEndangered(t *testing.T) {
	const now = 1000
	for begin, want := range map[int64]string{now + 1: "moves the job as far as your ceiling", now: "cannot be moved any more"} {
		r := api.Reservation{State: api.StatePending, Now: .3, Plan: api.Plan{Prob: .9}, Set: api.Setting{BeginTime: begin}}
		if got := next(r, now); !strings.Contains(got, want) {
			t.Errorf("eligible at %d: %q, want %q", begin, got, want)
		}
	}
}

// A job that is a member of a group says so: its work may never run.
func TestStoryOfMember(t *testing.T) {
	e := &Env{Env: cli.Env{Now: func() int64 { return 1000 }, Zone: time.UTC}}
	for home, want := range map[string]string{"": "kept by this site:", "beta": "kept by site beta:"} {
		r := api.Reservation{State: api.StatePending, Job: 7, Plan: api.Plan{Group: "gggggggggggg", Home: home}}
		if got := e.story(r, api.GroupState{}, false); !strings.Contains(got, "gggggggggggg, "+want) {
			t.Errorf("%q: %s", home, got)
		}
	}
	member := api.Reservation{State: api.StatePending, Job: 7, Plan: api.Plan{Group: "gggggggggggg", Prob: .02}}
	for want, group := range map[string]api.GroupState{
		"the group with probability 0.90 (forecast 0.97)\n": {Prob: .9, Estimate: .97, Members: []api.GroupMember{{}, {}}},
		"does not tell now\n":                               {},
	} {
		if got := e.story(member, group, false); !strings.Contains(got, want) || strings.Contains(got, "0.02") {
			t.Errorf("a member of a group: %s", got)
		}
	}
	member.State, member.Now = api.StateHolding, 1
	if got := e.story(member, api.GroupState{}, false); strings.Contains(got, "1.00") || !strings.Contains(got, " it has its nodes; its group decides") {
		t.Errorf("a member that waits for others: %s", got)
	}
	if got := e.story(api.Reservation{State: api.StatePending, Job: 7}, api.GroupState{}, false); strings.Contains(got, "Group") {
		t.Errorf("a job alone: %s", got)
	}
}

// A group is promised what its home says, and if that does not tell, what the member's site has noted.
func TestPromiseGroups(t *testing.T) {
	list := []api.Reservation{
		{Plan: api.Plan{Group: "a", Prob: .02, GroupProb: .9}}, {Plan: api.Plan{Group: "b", Prob: .02, GroupProb: .9}}, {Plan: api.Plan{Prob: .9}},
	}
	promiseGroups(list, map[string]api.GroupState{"a": {Prob: .8}, "b": {}})
	if list[0].GroupProb != .8 || list[1].GroupProb != .9 || list[2].GroupProb != 0 {
		t.Errorf("got %+v", list)
	}
}

// It names the other jobs of its group, and their sites.
func TestCompany(t *testing.T) {
	members := func(parts ...int) (list []api.GroupMember) {
		for i, part := range parts {
			list = append(list, api.GroupMember{Plan: string(rune('a' + i)), Job: int64(i + 1), Site: []string{"alpha", "beta", "gamma", ""}[i], Part: part})
		}
		return list
	}
	for _, c := range []struct {
		kind  string
		parts []int
		want  string
	}{
		{"", nil, "whether its work runs depends on other jobs, too"},
		{api.GroupAny, []int{0, 0}, "the first to start runs, this job or job 2 at beta"},
		{api.GroupAny, []int{0, 0, 0, 0}, "the first to start runs, this job or job 2 at beta or job 3 at gamma or job 4"},
		{api.GroupAll, []int{0, 0}, "this job begins together with job 2 at beta"},
		{api.GroupAll, []int{1, 2, 2}, "this job begins together with job 2 at beta or job 3 at gamma"},
		{api.GroupAll, []int{1, 2, 1, 3}, "this job, or job 3 at gamma instead, begins together with job 2 at beta, and job 4"},
		{api.GroupAll, []int{0}, "there is no other job in it"},
	} {
		if got := company(&api.GroupState{Kind: c.kind, Members: members(c.parts...)}, "a"); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.kind, c.parts, got, c.want)
		}
	}
}
