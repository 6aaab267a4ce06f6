package policy

import (
	"strings"
	"testing"
)

var (
	yes, no = true, false
	alice   = Who{User: "alice", Account: "Phys", Partition: "main", QOS: "normal"}
	bob     = Who{User: "bob", Account: "phys", Partition: "main", QOS: "normal"}
)

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want bool
	}{
		{Rule{}, true},
		{Rule{Accounts: []string{"chem", "PHYS"}}, true},
		{Rule{Accounts: []string{"chem"}}, false},
		{Rule{Partitions: []string{"gpu", "main"}, QOS: []string{"normal"}, Users: []string{"alice"}}, true},
		{Rule{Partitions: []string{"gpu"}, Users: []string{"alice"}}, false},
		{Rule{QOS: []string{"high"}}, false},
		{Rule{Users: []string{"bob"}}, false},
	} {
		if got := len(Rules{c.rule}.For(alice)) == 1; got != c.want {
			t.Errorf("%+v applies: %v", c.rule, got)
		}
	}
}

// refused checks that a refusal names the rule and contains text, or that there is none.
func refused(t *testing.T, r *Refusal, rule, text string) {
	t.Helper()
	switch {
	case r == nil && rule != "":
		t.Errorf("not refused by %s", rule)
	case r != nil && (r.Rule != rule || !strings.Contains(r.What+"; "+r.Do, text) || !strings.HasSuffix(r.What, `(rule "`+rule+`" of the site's policy)`)):
		t.Errorf("refused by %s: %s; %s", r.Rule, r.What, r.Do)
	}
}

func TestFirstDecides(t *testing.T) {
	rules := Rules{
		{Name: "physics may", Accounts: []string{"phys"}, Reserve: &yes, Cost: Cost{Times: 2}},
		{Name: "pilot", Reserve: &no, Cost: Cost{NodeSeconds: 1}},
	}
	refused(t, rules.For(alice).Admit(alice, .9, 0, "--prob"), "", "")
	carol := Who{User: "carol", Account: "chem", Partition: "main"}
	refused(t, rules.For(carol).Admit(carol, .9, 0, "--prob"), "pilot", "there are no reservations for anybody ")
	if a, b := rules.For(alice).Cost(), rules.For(carol).Cost(); a.Times != 2 || b.NodeSeconds != 1 {
		t.Error(a, b)
	}
	off := Rules{{Name: "1", Partitions: []string{"main"}, Reserve: &no}}
	refused(t, off.For(alice).Admit(alice, .9, 0, "--prob"), "1", "there are no reservations for partition main ")
}

func TestProbability(t *testing.T) {
	rules := Rules{{Name: "wide", MaxProb: .95}, {Name: "narrow", Users: []string{"alice"}, MaxProb: .8}}
	if got := rules.For(alice).Prob(.9); got != .8 {
		t.Error(got)
	}
	if got := rules.For(bob).Prob(.9); got != .9 {
		t.Error(got)
	}
	refused(t, rules.For(alice).Admit(alice, .8, 0, "--prob"), "", "")
	refused(t, rules.For(alice).Admit(alice, .81, 0, "--prob"), "narrow", "at most 0.8 is promised to user alice ")
	refused(t, rules.For(bob).Admit(bob, .96, 0, "--prob"), "wide", "to anybody")
	refused(t, rules.For(bob).Admit(bob, .96, 0, "--min-prob"), "wide", "; ask for --min-prob=0.95 or less")
	// Of two jobs that are both to start each needs the square root.
	refused(t, rules.For(alice).Admit(alice, .8, .64, "--min-prob"), "", "")
	refused(t, rules.For(alice).Admit(alice, .84, .84*.84, "--min-prob"), "narrow", "; ask for --min-prob=0.64 or less")
	refused(t, rules.For(alice).Admit(alice, .1, .81, "--min-prob"), "narrow", "; ask for --min-prob=0.8 or less")
}

func TestCost(t *testing.T) {
	rules := Rules{{Name: "double", MaxCost: Cost{Times: 2}}, {Name: "hour", MaxCost: Cost{NodeSeconds: 3600}}}
	refused(t, rules.CheckCost(alice, 1000, 2000), "", "")
	refused(t, rules.CheckCost(alice, 1000, 2002), "double", "ask for --max-cost=2x or less")
	if no := rules.CheckCost(alice, 1000, 2002); !strings.Contains(no.What, "0.5561 node-hours on the cost of idle nodes is more than the 0.5556 node-hours") {
		t.Errorf("what is rounded to the same: %s", no.What)
	}
	refused(t, rules.CheckCost(alice, 3000, 3600), "", "")
	refused(t, rules.CheckCost(alice, 3000, 3700), "hour", "ask for --max-cost=1 or less")
	refused(t, rules.CheckCost(alice, 7200, 7200), "hour", "may have to idle for 2.00 node-hours, and at most 1.00")
	refused(t, Rules(nil).CheckCost(alice, 7200, 1e9), "", "")
}

func TestUse(t *testing.T) {
	rules := Rules{
		{Name: "count", PerUser: Limits{Open: 2}, PerAccount: Limits{Open: 3}},
		{Name: "hours", Partitions: []string{"main"}, PerUser: Limits{NodeSeconds: 7200}, PerAccount: Limits{NodeSeconds: 9000}},
	}
	if !rules.Count() || (Rules{{MaxProb: .5}}).Count() {
		t.Error("Count")
	}
	elsewhere := alice
	elsewhere.Partition = "gpu"
	open := []Held{{alice, 3600}, {bob, 1800}}
	one := Use{Open: 1, NodeSeconds: 3600}
	refused(t, rules.CheckUse(alice, open, one), "", "")
	refused(t, rules.CheckUse(alice, append(open, Held{elsewhere, 9e9}), one), "count", "you have 2 open reservations, and at most 2 may be open at once")
	refused(t, rules.CheckUse(alice, append(open, Held{bob, 0}), one), "count", "account Phys has 3 open reservations, ")
	refused(t, rules.CheckUse(alice, open, Use{1, 3700}), "hours", "the nodes of the 1 open reservation that you have (partition main) may idle for 1.00 node-hours, and 1.03 node-hours more would be above the 2.00 node-hours")
	refused(t, rules.CheckUse(alice, []Held{{alice, 3600}, {bob, 3600}}, one), "hours", "that account Phys has (partition main)")
	// What adds nothing to a limit is not refused by it, though the limit may be exceeded.
	refused(t, rules.CheckUse(alice, []Held{{alice, 9e9}}, Use{Open: 1}), "", "")
	refused(t, rules.CheckUse(alice, []Held{{alice, 0}, {alice, 0}, {alice, 0}}, Use{NodeSeconds: 1}), "", "")
}
