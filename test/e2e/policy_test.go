package e2e

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// policy: the site's rules bind sbatch, varq quote and varq accept, also if many ask at once,
// and varq limits shows them.
func policy(t *testing.T, s *site.Site) {
	configured(t, s, `policy:
  - {partition: main, user: [alice, bob], reserve: yes}
  - {name: pilot phase, reserve: no}
  - {name: chemistry, account: chem, max_prob: 0.6, max_cost: 2x}
  - {name: one each, per_user: {reservations: 2}}
  - {name: physics, account: phys, per_account: {node_hours: 1}}
`)
	file, _ := script(t, s, "policy", "", "")
	asked := []string{"--begin-by=now+6hours", "--time=5", "--job-name=policy"}
	submit := func(user string, args ...string) site.Run {
		t.Helper()
		r, err := s.Run(context.WithoutCancel(t.Context()), user, "sbatch", append(append(asked, args...), file)...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	limits := func(user string) api.Limits {
		t.Helper()
		return decode[api.Limits](t, mustRun(t, s, user, "varq", "limits", "--json").Stdout)
	}
	refused := func(user, says string, args ...string) {
		t.Helper()
		r := submit(user, args...)
		if r.Code == 0 || !strings.Contains(r.Stderr, "varq: no promise: "+says) {
			t.Errorf("%s %v: exit code %d, %q", user, args, r.Code, r.Stderr)
		}
	}
	eventually(t, "nobody has a reservation of tests before", func() bool { return limits("alice").Open+limits("bob").Open == 0 })
	refused("alice", `there are no reservations for anybody (rule "pilot phase" of the site's policy)`+"\nvarq: submit the job without one", "--partition=short", "--prob=0.6")
	refused("bob", `a probability of at most 0.6 is promised to account chem (rule "chemistry" of the site's policy)`+"\nvarq: ask for --prob=0.6 or less", "--prob=0.7")
	refused("bob", "a ceiling of 1.00 node-hours", "--prob=0.6", "--max-cost=1")

	// Who names no probability gets the highest there is, and who names no ceiling the quote.
	id, r := reserve(t, s, "bob", append(asked, file)...)
	if r.Prob != .6 || r.Ceiling != r.Worst {
		t.Errorf("promised %+v", r)
	}

	// Of many at once two are promised. One that is over makes room.
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { submit("bob", "--prob=0.6") })
	}
	wg.Wait()
	if got := jobs(t, s, "bob", "policy"); len(got) != 2 {
		t.Errorf("bob has %v in the queue", got)
	}
	refused("bob", `you have 2 open reservations, and at most 2 may be open at once (rule "one each" of the site's policy)`, "--prob=0.6")
	quote, err := s.Run(t.Context(), "bob", "varq", "quote", "--begin-by=now+6hours", "--time=5", "--prob=0.6")
	if err != nil || quote.Code != 1 || !strings.Contains(quote.Stdout, `(rule "one each" of the site's policy)`) {
		t.Errorf("exit code %d, %q, %v", quote.Code, quote.Stdout, err)
	}
	if l := limits("bob"); l.Open != 2 || len(l.Rules) != 4 || l.Rules[2].Name != "chemistry" || l.Rules[3].Shares[0] != (api.LimitShare{User: "bob", Open: 2, MaxOpen: 2, NodeSeconds: l.NodeSeconds}) {
		t.Fatalf("%+v", l)
	}
	mustRun(t, s, "bob", "scancel", strconv.FormatInt(id, 10))
	settled(t, s, "bob", id, api.StateCancelled)
	if l := limits("bob"); l.Open != 1 {
		t.Errorf("%+v", l)
	}

	// Node-hours of an account: what is held by one reservation leaves no room for another.
	_, first := reserve(t, s, "alice", append(asked, "--prob=0.6", "--max-cost=0.8", "--nodes=4", file)...)
	used := limits("alice").Rules[3].Shares[0]
	if want := (api.LimitShare{Account: "phys", Open: 1, NodeSeconds: first.Ceiling.NodeSeconds, MaxNodeSeconds: 3600}); used != want {
		t.Errorf("%+v, want %+v", used, want)
	}
	refused("alice", "the nodes of the 1 open reservation that account phys has (account phys) may idle for ", "--prob=0.6", "--max-cost=0.8", "--nodes=4")
}
