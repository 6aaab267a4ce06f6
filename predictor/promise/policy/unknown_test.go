package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

func TestUnknown(t *testing.T) {
	c := limits.Cluster{
		Partitions:           map[string]limits.Partition{"main": {Name: "main"}},
		QOS:                  map[string]limits.QOS{"high": {Name: "high"}},
		Associations:         []limits.Association{{Account: "physics"}, {Account: "physics", User: "alice"}},
		AssociationsEnforced: true,
	}
	rules := Rules{
		{Name: "fine", Partitions: []string{"main"}, Accounts: []string{"Physics"}, QOS: []string{"high"}, Users: []string{"alice"}},
		{Name: "all"},
		{Name: "wrong", Partitions: []string{"main", "man"}, Accounts: []string{"chem"}, QOS: []string{"High"}, Users: []string{"bob"}},
	}
	anyway := []Unknown{{"wrong", "partition", "man"}, {"wrong", "qos", "High"}}
	all := append(slices.Clone(anyway), Unknown{"wrong", "account", "chem"}, Unknown{"wrong", "user", "bob"})
	if diff := cmp.Diff(all, rules.Unknown(&c)); diff != "" {
		t.Error(diff)
	}
	c.AssociationsEnforced = false
	if diff := cmp.Diff(anyway, rules.Unknown(&c)); diff != "" {
		t.Errorf("where anybody may submit jobs: %s", diff)
	}
	if got := all[0].String(); got != `rule "wrong" names partition man, which Slurm does not have` {
		t.Error(got)
	}
}
