package told

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

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
