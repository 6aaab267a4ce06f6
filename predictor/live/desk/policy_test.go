package desk

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/policy"
)

// Concurrent requests do not exceed a limit together.
func TestLimitsHoldAtOnce(t *testing.T) {
	s := newSite(t)
	const most = 3
	s.desk.Policy = policy.Rules{{Name: "three", PerUser: policy.Limits{Open: most}}}
	granted, refusals := s.askAtOnce()
	refused := 0
	for _, no := range refusals {
		if no.Rule == "three" {
			refused++
		}
	}
	if granted != most || refused != 17 {
		t.Errorf("%d granted, %d refused", granted, refused)
	}
}

// A user is told of the partitions that are open to her.
func TestLimitsNamePartitions(t *testing.T) {
	s := newSite(t)
	*s.Premises.Limits() = limits.Cluster{
		Partitions:   map[string]limits.Partition{"main": {Default: true}, "big": {}, "astro": {AllowAccounts: []string{"astro"}}},
		Associations: limits.Associations{{User: "alice", Account: "physics"}, {User: "carol", Account: "astro"}},
	}
	for user, want := range map[string]string{"alice": "[big main]", "carol": "[astro big main]"} {
		got, err := s.desk.Limits(t.Context(), user)
		if err != nil || fmt.Sprint(got.Partitions) != want || got.DefaultPartition != "main" {
			t.Errorf("%s: %v %q, %v", user, got.Partitions, got.DefaultPartition, err)
		}
	}
}
