package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// c is a plan of a third member.
const c = "cccccccccccc"

// nested is a group with one part at alpha and one part at beta or gamma.
func nested(deadline int64) api.GroupRequest {
	r := request(api.GroupAll, deadline)
	r.Members[0].Part, r.Members[1].Part = 1, 2
	r.Members = append(r.Members, api.GroupMember{Site: "gamma", Plan: c, Job: 29, Prob: .6, Part: 2})
	return r
}

func newNested(t *testing.T) *home {
	h := newHome(t)
	if _, err := h.RegisterGroup(t.Context(), "alice", nested(start+600)); err != nil {
		t.Fatal(err)
	}
	return h
}

// One job of each part begins once each part has a job, and the alternatives are lost at once.
func TestOneOfEachPart(t *testing.T) {
	h := newNested(t)
	h.clock.Store(start + 595)
	h.want(h.ask(c), "wait")
	h.want(h.ask(a), "go at +600")
	h.want(h.ask(b), "lost: job 29 at gamma runs instead")
	h.crash()
	h.clock.Store(start + 900)
	h.want(h.ask(c), "go at +600")
	h.want(h.ask(b), "lost: job 29 at gamma runs instead")
	states, err := h.GroupStates(t.Context(), "varq", api.GroupsQuery{Groups: []string{group}})
	if err != nil || len(states) != 1 || !slices.Equal(states[0].Winners, []string{a, c}) || states[0].Why != "job 29 at gamma runs instead" {
		t.Errorf("%v %v", states, err)
	}

	// If several jobs of a part are present, the first in the group runs. A job that has not asked
	// for long is not present.
	h = newNested(t)
	h.clock.Store(start + 595)
	h.want(h.ask(c), "wait")
	h.want(h.ask(b), "wait")
	h.want(h.ask(a), "go at +600")
	h.want(h.ask(b), "go at +600")
	h.want(h.ask(c), "lost: job 23 at beta runs instead")
	h = newNested(t)
	h.clock.Store(start + 584)
	h.want(h.ask(b), "wait")
	h.clock.Store(start + 595)
	h.want(h.ask(c), "wait")
	h.want(h.ask(a), "go at +600")
	h.want(h.ask(b), "lost: job 29 at gamma runs instead")
}

// A part without any job is missing.
func TestPartMissing(t *testing.T) {
	for _, who := range []struct{ there, want string }{
		{a, "lost: none of job 23 at beta and job 29 at gamma started in time"}, {c, "lost: job 17 at alpha did not start in time"},
	} {
		h := newNested(t)
		h.clock.Store(start + 625)
		h.want(h.ask(who.there), "wait")
		h.clock.Store(start + 631)
		for _, plan := range []string{b, who.there, a, c} {
			h.want(h.ask(plan), who.want)
		}
	}
}

// A group with alternatives has a kind of its own for quotes and outcomes.
func TestRaised(t *testing.T) {
	h := newHome(t)
	q, err := h.QuoteGroup(t.Context(), "alice", nested(start+600))
	if want := .8 * (1 - .3*.4); err != nil || math.Abs(q.Independent-want) > 1e-9 || math.Abs(q.Unraised-.8*.7) > 1e-9 || !(q.Prob > q.Unraised) {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := h.QuoteGroup(t.Context(), "alice", request(api.GroupAll, start+600)); err != nil || q.Unraised != 0 {
		t.Errorf("without alternatives: %+v, %v", q, err)
	}
	all := func() float64 {
		q, err := h.QuoteGroup(t.Context(), "alice", request(api.GroupAll, h.clock.Load()+600))
		if err != nil {
			t.Fatal(err)
		}
		return q.Prob
	}
	before := all()
	if _, err := h.RegisterGroup(t.Context(), "alice", nested(start+600)); err != nil {
		t.Fatal(err)
	}
	h.look()
	h.clock.Store(start + 600 + hear + 1) // none has come
	if err := h.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := h.QuoteGroup(t.Context(), "alice", nested(start+2600))
	if err != nil || again.Prob >= q.Prob || all() != before {
		t.Errorf("%v, and %v after a failure; of all %v and %v; %v", q.Prob, again.Prob, before, all(), err)
	}
}

// Cancelled jobs decide a group that cannot succeed without them, and its outcome teaches nothing.
func TestWithdrawn(t *testing.T) {
	quote := func(h *home, r api.GroupRequest) float64 {
		t.Helper()
		r.Deadline = h.clock.Load() + 600
		q, err := h.QuoteGroup(t.Context(), "alice", r)
		if err != nil {
			t.Fatal(err)
		}
		return q.Prob
	}
	for name, test := range map[string]struct {
		request  api.GroupRequest
		withdraw []string
		want     string // the answer to the job at beta
	}{
		"any, one":   {request(api.GroupAny, start+600), []string{a}, "go"},
		"any, all":   {request(api.GroupAny, start+600), []string{a, b}, "lost: job 17 at alpha and job 23 at beta were cancelled"},
		"all":        {request(api.GroupAll, start+600), []string{a}, "lost: job 17 at alpha was cancelled"},
		"a part":     {nested(start + 600), []string{c, b}, "lost: job 23 at beta and job 29 at gamma were cancelled"},
		"half of it": {nested(start + 600), []string{b}, "lost: job 23 at beta was cancelled"},
		"the other":  {nested(start + 600), []string{c}, "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			before := quote(h, test.request)
			if _, err := h.RegisterGroup(t.Context(), "alice", test.request); err != nil {
				t.Fatal(err)
			}
			if _, err := h.ClaimGroup(t.Context(), "mallory", api.GroupClaim{Group: group, Plan: b, Job: 23, User: "alice", Withdrawn: true}); err == nil {
				t.Error("anybody withdraws it")
			}
			for range 2 {
				for _, plan := range test.withdraw {
					if _, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: plan, Job: jobs[plan], User: "alice", Withdrawn: true}); err != nil {
						t.Fatal(err)
					}
				}
				h.crash()
			}
			h.want(h.ask(b), test.want)
			h.clock.Store(start + 5000)
			if err := h.Tend(t.Context()); err != nil {
				t.Fatal(err)
			}
			if after := quote(h, test.request); after != before {
				t.Errorf("%v, and %v after jobs were cancelled", before, after)
			}
			if list, err := h.Ledger.Unlearnt(t.Context(), start+5000); err != nil || len(list) > 0 {
				t.Errorf("%v is never done with; %v", list, err)
			}
		})
	}
	// Once a group is decided, a cancelled job changes nothing.
	h := newNested(t)
	h.clock.Store(start + 595)
	h.want(h.ask(a), "wait")
	h.want(h.ask(c), "go at +600")
	if _, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: c, Job: 29, User: "alice", Withdrawn: true}); err != nil {
		t.Fatal(err)
	}
	h.want(h.ask(a), "go at +600")
}

// check returns what is wrong with a decision, or "".
func check(g *ledger.Group) string {
	won, cancelled := 0, false // after it was decided
	for _, part := range g.Parts() {
		n := 0
		for _, i := range part {
			if g.Members[i].Won {
				n++
				cancelled = cancelled || g.Members[i].Withdrawn
			}
		}
		if n > 1 {
			return fmt.Sprintf("%d winners in the part %v", n, part)
		}
		won += n
	}
	switch {
	case g.Decided == 0 && won > 0:
		return "a winner before it is decided"
	case won > 0 && won < len(g.Parts()):
		return fmt.Sprintf("%d of %d parts", won, len(g.Parts()))
	case (won > 0 && !cancelled) == (g.Lost != "") && g.Decided != 0:
		return fmt.Sprintf("%d winners, given up: %q", won, g.Lost)
	}
	return ""
}

// TestAllOrders goes through every order in which the jobs of small groups can ask, disappear for
// long, and come late. In every order, no part has two winners, and either all parts have a winner
// or none has. A job that was told that its work begins, or does not, gets the same answer for
// ever.
func TestAllOrders(t *testing.T) {
	const depth = 7
	for _, parts := range [][]int{{1, 2, 2}, {1, 1, 2, 2}, {0, 0, 1, 1}, {2, 1, 2}} {
		root := &ledger.Group{ID: group, Kind: api.GroupAll, Deadline: 12}
		for i, part := range parts {
			root.Members = append(root.Members, ledger.Member{GroupMember: api.GroupMember{Plan: fmt.Sprint(i), Part: part}})
		}
		orders := 0
		var try func(g *ledger.Group, now int64, said []string, trace string)
		try = func(g *ledger.Group, now int64, said []string, trace string) {
			if len(trace) == depth {
				orders++
				return
			}
			for i := range parts {
				h := *g
				h.Members = slices.Clone(g.Members)
				answer, said := claim(&h, i, now), slices.Clone(said)
				trace := trace + fmt.Sprint(i)
				if wrong := check(&h); wrong != "" {
					t.Fatalf("%v: after %s: %s", parts, trace, wrong)
				}
				if said[i] != "" && said[i] != answer.Answer || answer.Answer == api.GateGo != h.Members[i].Won {
					t.Fatalf("%v: after %s: %s, and %s before", parts, trace, answer.Answer, said[i])
				}
				if answer.Answer != api.GateWait {
					said[i] = answer.Answer
				}
				try(&h, now, said, trace)
			}
			h := *g
			h.Members = slices.Clone(g.Members)
			try(&h, now+11, said, trace+"-")
		}
		try(root, 1, make([]string, len(parts)), "")
		t.Logf("%v: %d orders", parts, orders)
	}
}

// TestCrashes makes the jobs of groups ask at random, while the home is killed at random. The home
// gives the same answers after a crash as before.
func TestCrashes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		h := newHome(t)
		r := api.GroupRequest{ID: group, Kind: api.GroupAll, Deadline: start + 20, Prob: .01}
		for i := range 2 + random.IntN(5) {
			r.Members = append(r.Members, api.GroupMember{Plan: "aaaaaaaaaaa" + string(rune('a'+i)), Job: int64(i + 1), Prob: .9, Part: random.IntN(4)})
		}
		if _, err := h.RegisterGroup(t.Context(), "alice", r); err != nil {
			t.Fatal(err)
		}
		said := map[string]string{}
		for range 40 {
			switch random.IntN(8) {
			case 0:
				h.crash()
			case 1, 2:
				h.clock.Add(random.Int64N(8))
			case 3:
				m := r.Members[random.IntN(len(r.Members))]
				if random.IntN(3) > 0 || said[m.Plan] != "" {
					continue
				}
				if _, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: m.Plan, Job: m.Job, User: "alice", Withdrawn: true}); err != nil {
					t.Fatal(err)
				}
			default:
				m := r.Members[random.IntN(len(r.Members))]
				answer, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: m.Plan, Job: m.Job, User: "alice"})
				if err != nil || said[m.Plan] != "" && said[m.Plan] != answer.Answer {
					t.Fatalf("%s: %s, and %s before; %v", m.Plan, answer.Answer, said[m.Plan], err)
				}
				if answer.Answer != api.GateWait {
					said[m.Plan] = answer.Answer
				}
			}
			found, err := h.Ledger.Groups(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := check(&found[0]); wrong != "" {
				t.Fatal(wrong)
			}
			for _, m := range found[0].Members {
				if found[0].Decided != 0 && said[m.Plan] == api.GateGo != m.Won && said[m.Plan] != "" {
					t.Fatalf("%s was told %s", m.Plan, said[m.Plan])
				}
			}
		}
	}
}

// TestPromisedAndKept makes the jobs of many groups start with correlated delays, and asks the home
// about each. As many groups begin as Joint forecasts, and not as many as if the sites were
// independent.
func TestPromisedAndKept(t *testing.T) {
	h, random := newHome(t), rand.New(rand.NewPCG(3, 4))
	sites := []string{"alpha", "beta", "gamma"}
	h.Site = "alpha"
	var others [2]home
	for i := range others {
		others[i].Groups = &Groups{Options: Options{Site: sites[i+1], Peer: h.Peer, Now: h.clock.Load}}
	}
	common := func() (z [3]float64) { // correlations of .64
		shared := random.NormFloat64()
		for i := range z {
			z[i] = .8*shared + .6*random.NormFloat64()
		}
		return z
	}
	rank := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	for hour := range int64(24 * 85) {
		h.clock.Store(hour*3600 + 1000)
		z := common()
		h.LearnDelay(hour*3600, rank(z[0]))
		for i := range others {
			others[i].LearnDelay(hour*3600, rank(z[i+1]))
		}
	}
	for i := range others {
		d, err := others[i].Delays(t.Context(), "varq")
		if err == nil {
			err = h.SetDelays(sites[i+1], d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := nested(h.clock.Load() + 600)
	r.Members[0].Prob, r.Members[1].Prob, r.Members[2].Prob = .97, .6, .6
	q, err := h.QuoteGroup(t.Context(), "alice", r)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	came := 0
	for range n {
		g := newGroup(&r)
		z := common()
		for now := g.Deadline - 10; now <= g.Deadline+40 && g.Decided == 0; now += 5 {
			// a job that is not present by the deadline comes too late
			for i, m := range g.Members {
				if rank(z[i]) <= m.Prob {
					claim(g, i, now)
				}
			}
			giveUp(g, now)
		}
		if wrong := check(g); wrong != "" {
			t.Fatal(wrong)
		}
		if ok, known := outcome(g, g.Deadline+hear+1); !known {
			t.Fatal("not decided")
		} else if ok {
			came++
		}
	}
	got := float64(came) / n
	t.Logf("%.4f of the groups begin; Joint %.4f, independent %.4f, correlation %.2f", got, q.Joint, q.Independent, q.Correlation)
	// Correlations measured in a few months are shrunk a little towards 0.
	if math.Abs(got-q.Joint) > .02 || math.Abs(got-q.Independent) < .03 {
		t.Errorf("%.4f of the groups begin; quoted are %.4f, and %.4f if independent", got, q.Joint, q.Independent)
	}
}
