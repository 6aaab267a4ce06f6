package desk

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// A user who takes an offer that can no longer be promised is told that the queue has changed.
func TestOfferTakenTooLate(t *testing.T) {
	const changed = "the queue has changed since "
	for _, c := range []struct {
		name  string
		user  string
		after int64
		take  func(req *api.PlanRequest, o *api.Offer)
		want  bool
	}{
		{"taken", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, true},
		{"by somebody else", "bob", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, false},
		{"long ago", "alice", 601, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, false},
		{"another one", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy + 60 }, false},
		{"a greater probability", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy, req.Prob = o.BeginBy, .97 }, false},
		{"relative to now", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy + 20 }, true},
		{"at once", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy, req.BestEffort = o.BeginBy, true }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.Outlook.Delay = 3600
			req := desktest.Request(desktest.Epoch + 1800)
			a, err := s.desk.Plan(t.Context(), "alice", req, true)
			if err != nil || a.Refusal == nil || strings.Contains(a.Refusal.Reason, changed) {
				t.Fatalf("%+v, %v", a, err)
			}
			var later *api.Offer
			for i := range a.Refusal.Offers {
				if a.Refusal.Offers[i].Kind == api.OfferLater {
					later = &a.Refusal.Offers[i]
				}
			}
			if later == nil {
				t.Fatalf("%+v", a.Refusal)
			}
			c.take(req, later)
			s.Outlook.Delay = 86400
			s.Clock += c.after
			a, err = s.desk.Plan(t.Context(), c.user, req, true)
			if err != nil || a.Refusal == nil {
				t.Fatalf("%+v, %v", a, err)
			}
			if got := strings.HasPrefix(a.Refusal.Reason, changed); got != c.want {
				t.Errorf("%q", a.Refusal.Reason)
			}
		})
	}
}

// What was offered is remembered for as long as the offer holds.
func TestOfferStanding(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 3600
	req := desktest.Request(desktest.Epoch + 1800)
	a, err := s.desk.Plan(t.Context(), "alice", req, true)
	if err != nil || a.Refusal == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	taken := *req
	for _, o := range a.Refusal.Offers {
		if o.Kind == api.OfferLater {
			taken.BeginBy = o.BeginBy
		}
	}
	for _, c := range []struct {
		user  string
		req   *api.PlanRequest
		after int64
		want  float64
	}{
		{"alice", &taken, 0, .98}, {"alice", &taken, 60, .98}, {"alice", &taken, 100, 0}, {"bob", &taken, 20, 0}, {"alice", req, 20, 0},
	} {
		if got := s.desk.offered.standing(c.user, c.req, desktest.Epoch+c.after); got.offer.Estimate != c.want || (got.at == desktest.Epoch) != (c.want != 0) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// An offer is promised to who takes it in time, in the place for which it was made, though the
// forecast has fallen meanwhile. The plan tells that.
func TestOfferHolds(t *testing.T) {
	for _, c := range []struct {
		user, partitions string
		after            int64
		fallen           float64
		promised         bool
	}{
		{"alice", "main", 60, .3, true}, {"alice", "short,main", 60, .3, true}, {"alice", "main", 60, .6, false},
		{"alice", "main", 100, .3, false}, {"bob", "main", 20, .3, false},
	} {
		s := newSite(t)
		s.Slurm.Short = 7200
		s.Refresh()
		s.Outlook.Delay = 3600
		req := in(c.partitions, desktest.Epoch+1800)
		a, err := s.desk.Plan(t.Context(), "alice", req, true)
		if err != nil || a.Refusal == nil {
			t.Fatalf("%+v: %+v, %v", c, a, err)
		}
		offers := a.Refusal.Offers
		i := slices.IndexFunc(offers, func(o api.Offer) bool { return o.Kind == api.OfferLater })
		req.BeginBy = offers[i].BeginBy
		s.Clock += c.after
		s.Outlook.Fallen = c.fallen
		a, err = s.desk.Plan(t.Context(), c.user, req, true)
		if err != nil || (a.Plan != nil) != c.promised {
			t.Errorf("%+v: %+v, %v", c, a.Refusal, err)
		}
		if p := a.Plan; p != nil && (p.Offered != desktest.Epoch || p.Estimate != .98 || math.Abs(p.Forecast-.68) > 1e-9 || p.Worst.NodeSeconds > offers[i].Worst.NodeSeconds) {
			t.Errorf("%+v: %+v", c, p)
		}
		list, err := s.Ledger.Select(t.Context(), ledger.Query{})
		if err != nil || (len(list) == 1) != c.promised || c.promised && list[0].Partition != offers[i].Claim.Partition {
			t.Errorf("%+v: %+v, %v", c, list, err)
		}
	}
}

// Of the offers of a refusal one is promised as it was offered, and the others no more. An offer is
// also taken by who asks for less.
func TestOneOfTheOffers(t *testing.T) {
	o := offered{}
	asked := api.PlanRequest{BeginBy: 1000, Prob: .9}
	o.refuse("alice", &asked, &api.Refusal{Offers: []api.Offer{{Kind: api.OfferProb, Prob: .7, BeginBy: 1000}, {Kind: api.OfferLater, Prob: .9, BeginBy: 2000}}}, true, 500, time.UTC)
	less, later, more := asked, asked, asked
	less.Prob, more.Prob, later.BeginBy = .6, .8, 2000
	for _, c := range []struct {
		req  *api.PlanRequest
		want int64
	}{{&less, 500}, {&later, 500}, {&more, 0}, {&asked, 0}} {
		if got := o.standing("alice", c.req, 510); got.at != c.want {
			t.Errorf("%+v: %+v", c.req, got)
		}
	}
	o.promise("alice", &later, "p", 510)
	for _, req := range []*api.PlanRequest{&less, &later} {
		if got := o.standing("alice", req, 520); got.at != 0 {
			t.Errorf("%+v: %+v", req, got)
		}
	}
}

// An offer of fewer nodes is taken by a request that asks for nothing else of them.
func TestOfferOfFewerNodesTaken(t *testing.T) {
	asked := api.PlanRequest{BeginBy: 1000, Job: workload.Request{Size: workload.Size{Nodes: 4, CPUs: 8}}, Needs: &workload.Needs{MostNodes: 4, Scale: []workload.Counted{{Option: "--nodes=", Count: 4}}}}
	r, o := refused{at: 500, asked: asked}, api.Offer{Kind: api.OfferNodes, BeginBy: 1000, Nodes: 2, CPUs: 4}
	got := asked
	got.Job.Size = workload.Size{Nodes: 2, CPUs: 4}
	got.Needs = &workload.Needs{MostNodes: 2, Scale: []workload.Counted{{Option: "--nodes=", Count: 2}}}
	if !r.isTaken(&o, &got, 510) {
		t.Error("not taken")
	}
	alone := o // on its nodes, with all their CPUs
	if alone.CPUs = 16; !r.isTaken(&alone, &got, 510) {
		t.Error("not taken, as the job is alone on its nodes")
	}
	if more := got; true {
		if more.Job.CPUs = 5; r.isTaken(&o, &more, 510) {
			t.Error("taken with more CPUs")
		}
	}
	got.Needs.NodeMemory = workload.NodeNeed{Amount: 3000, Option: "--mem"}
	if r.isTaken(&o, &got, 510) {
		t.Error("taken with more memory")
	}
}

// The room of an offer is kept for its user for a minute. Others are told until when, and get it
// after that.
func TestOfferKeepsRoom(t *testing.T) {
	for _, c := range []struct {
		name  string
		user  string
		after int64
		want  string // in the refusal, or "" for a promise
	}{
		{"taken at once", "alice", 3, ""},
		{"taken after a minute", "alice", 60, ""},
		{"by another user", "bob", 3, "; until 2027-01-15T08:01:05Z room is kept for what was offered to others: ask again then, for more"},
		{"by another user, later", "bob", 64, "room is kept"},
		{"by another user, after that", "bob", 65, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			taken := s.offeredTo("alice", desktest.Epoch+1800)
			s.Outlook.Delay, s.Outlook.Rooms = 600, len(s.kept("bob"))
			s.Clock += c.after
			a, err := s.desk.Plan(t.Context(), c.user, taken, true)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want == "" && a.Plan == nil:
				t.Errorf("refused: %s", a.Refusal.Reason)
			case c.want != "" && (a.Plan != nil || !strings.Contains(a.Refusal.Reason, c.want)):
				t.Errorf("%+v", a)
			}
			if kept := s.kept("carol"); c.user == "alice" && len(kept) > 0 {
				t.Errorf("%d are kept although one was taken", len(kept))
			}
		})
	}
}

// offeredTo makes a user ask for a start by a time too soon. It returns the request that takes the
// offer of a later one.
func (s *site) offeredTo(user string, by int64) *api.PlanRequest {
	s.T.Helper()
	s.Outlook.Delay = 3600
	req := desktest.Request(by)
	a, err := s.desk.Plan(s.T.Context(), user, req, true)
	if err != nil || a.Refusal == nil {
		s.T.Fatalf("%+v, %v", a, err)
	}
	s.refused = a.Refusal
	for _, o := range a.Refusal.Offers {
		if o.Kind == api.OfferLater {
			req.BeginBy = o.BeginBy
			return req
		}
	}
	s.T.Fatalf("%+v", a.Refusal)
	return nil
}

// kept returns what is kept from a user for offers to others.
func (s *site) kept(user string) []workload.Claim {
	as := s.desk.offered.standing(user, nil, s.Clock)
	claims, _ := s.desk.offered.claims(user, &as, s.Clock)
	return claims
}

// Offers of a user who has been offered much keep room from others who have, and from nobody else.
// An offer made later to somebody else is not in their way, and has its room nevertheless.
func TestOffersBeyond(t *testing.T) {
	s := newSite(t)
	for range mostFirst {
		for _, user := range []string{"alice", "carol"} {
			s.offeredTo(user, s.Clock+1800)
		}
		s.Clock += roomKept
		s.Refresh()
	}
	taken := s.offeredTo("alice", s.Clock+1800)
	if no := s.refused; no.KeptUntil == 0 || !no.KeptFromSome || no.Unkept {
		t.Errorf("%+v", no)
	}
	if carol, bob := s.kept("carol"), s.kept("bob"); len(carol) == 0 || len(bob) > 0 {
		t.Errorf("kept from carol %v, from bob %v", carol, bob)
	}
	s.offeredTo("bob", s.Clock+1800)
	if no := s.refused; no.KeptUntil == 0 || no.KeptFromSome {
		t.Errorf("%+v", no)
	}
	as := s.desk.offered.standing("alice", taken, s.Clock)
	if claims, _ := s.desk.offered.claims("alice", &as, s.Clock); as.at == 0 || len(claims) == 0 {
		t.Errorf("alice's offer takes bob's room: %+v", as)
	}
	s.offeredTo("carol", s.Clock+1800)
	if claims, _ := s.desk.offered.claims("alice", &as, s.Clock); len(claims) != len(s.kept("alice"))-1 {
		t.Errorf("carol's later offer is in the way of alice's: %v", claims)
	}
	for i, want := range []int{2, 3, 3} { // at one time, and no more
		s.offeredTo("alice", s.Clock+1860+int64(i)*60)
		if of, _ := s.desk.offered.keeping("alice", s.Clock); of != want || s.refused.Unkept != (i == 2) {
			t.Errorf("%d refusals keep room, %+v", of, s.refused)
		}
	}
}

// Of many refusals of a user the oldest is forgotten that keeps no room, although all have.
func TestManyRefusals(t *testing.T) {
	o := offered{}
	for i := range int64(3 * mostRefusals) {
		now := 1000 + 2*i
		asked := api.PlanRequest{BeginBy: 1e6 + i, Prob: .9}
		no := api.Refusal{Offers: []api.Offer{{Kind: api.OfferLater, Prob: .9, BeginBy: 2e6 + i}}}
		o.refuse("alice", &asked, &no, true, now, time.UTC)
		if no.Unkept {
			t.Fatalf("the %d-th is not kept", i)
		}
		asked.BeginBy = 2e6 + i
		if as := o.standing("alice", &asked, now); as.at != now {
			t.Fatalf("the %d-th is not remembered: %+v", i, as)
		}
		o.promise("alice", &asked, "p", now+1)
	}
	if n := len(o.made["alice"]); n > mostRefusals {
		t.Errorf("%d are remembered", n)
	}
}

// Offers that nobody takes keep room from others for a third of the time. Those asked for twice
// keep it once.
func TestOffersKeepRoomInVain(t *testing.T) {
	s := newSite(t)
	kept := 0
	for second := int64(0); second < 2*refusalsKept; second++ {
		s.Clock = desktest.Epoch + second
		if second%10 == 0 {
			s.Refresh()
			s.offeredTo("alice", desktest.Epoch+1800+second)
		}
		if len(s.kept("bob")) > 0 {
			kept++
		}
	}
	if no := s.refused; no == nil || no.Unkept != (no.KeptUntil == 0) || !no.Unkept && !no.KeptFromSome {
		t.Errorf("nothing is said of the last offers, whose room is not kept from bob: %+v", no)
	}
	if kept > 2*refusalsKept/3 || kept < 2*roomKept {
		t.Errorf("kept for %d of %d seconds", kept, 2*refusalsKept)
	}
	s.Clock += refusalsKept + 1
	s.Refresh()
	s.offeredTo("alice", s.Clock+1800)
	once := len(s.kept("bob"))
	s.offeredTo("alice", s.Clock+1800)
	if twice := len(s.kept("bob")); once == 0 || twice != once {
		t.Errorf("%d claims, then %d", once, twice)
	}
}

// A user who takes what she is offered at once has the room of each offer kept. One who always
// takes it late, to cancel her job then, keeps room from others for no longer than if she did not.
func TestOffersTakenKeepRoom(t *testing.T) {
	for _, late := range []int64{0, 56} {
		s := newSite(t)
		kept, offers := int64(0), 0
		for s.Clock < desktest.Epoch+refusalsKept {
			s.Refresh()
			taken := s.offeredTo("alice", s.Clock+1800)
			if len(s.kept("bob")) > 0 {
				kept, offers = kept+late, offers+1
			}
			s.Clock += late
			if a, err := s.desk.Plan(t.Context(), "alice", taken, true); err != nil || a.Plan == nil {
				t.Fatalf("%+v, %v", a, err)
			}
			if len(s.kept("bob")) > 0 {
				t.Fatal("kept although it was taken")
			}
			s.Clock += 10
		}
		if kept > refusalsKept/3 || offers < 3 || late == 0 && offers != refusalsKept/10 {
			t.Errorf("after %d s: kept for %d s, %d offers", late, kept, offers)
		}
	}
}

// A quote keeps nothing from others.
func TestQuoteKeepsNoRoom(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 3600
	a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+1800), false)
	if err != nil || len(a.Refusal.Offers) == 0 || a.Refusal.KeptUntil != 0 || len(s.kept("bob")) > 0 {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
}

// What is kept for offers does not delay jobs that wait, and is told with what can be promised.
func TestOffersDelayNoJob(t *testing.T) {
	s := newSite(t)
	s.observe(entry(7, "bob", 300, nil))
	s.Outlook.Delay = 3600
	before := *s.when("bob", api.WhenQuery{}).Jobs[0].Start
	s.offeredTo("alice", desktest.Epoch+1800)
	s.Outlook.Rooms = len(s.kept("bob"))
	if after := *s.when("bob", api.WhenQuery{}).Jobs[0].Start; after != before {
		t.Errorf("%+v, then %+v", before, after)
	}
	if p, err := s.desk.Predict(t.Context(), "bob", &api.PredictRequest{}); err != nil || p.OffersUntil != desktest.Epoch+roomKept || p.Bounds[0].Seconds != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{}); err != nil || p.OffersUntil != 0 || p.Bounds[0].Seconds == nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// What is kept for several offers is at each time what the largest of them needs.
func TestAnyOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const end = 60
	at := func(claims []workload.Claim, second int64) (most, sum int32) {
		for i := range claims {
			if c := &claims[i]; c.Start <= second && second < c.From+c.Limit {
				most, sum = max(most, c.Nodes), sum+c.Nodes
			}
		}
		return most, sum
	}
	for range 500 {
		var offers []api.Offer
		var claims []workload.Claim
		for range 1 + random.IntN(5) {
			c := workload.Claim{Start: random.Int64N(end / 3)}
			c.Nodes, c.From, c.Limit = 1+random.Int32N(4), c.Start+random.Int64N(end/3), 1+random.Int64N(end/3)
			offers, claims = append(offers, api.Offer{Claim: c}), append(claims, c)
		}
		kept := anyOf(offers, 0)
		for second := range int64(end) {
			want, _ := at(claims, second)
			if most, sum := at(kept, second); most != want || sum != want {
				t.Fatalf("%+v: %+v: %d and %d at %d, want %d", claims, kept, most, sum, second, want)
			}
		}
	}
}

// No two users are offered the same room at the same time.
func TestOffersAtOnce(t *testing.T) {
	const by = desktest.Epoch + 1800
	end := desktest.Request(0)
	end.FinishBy = by
	for name, req := range map[string]*api.PlanRequest{"start": desktest.Request(by), "end": end} {
		s := newSite(t)
		s.Outlook.RunTime = 600
		s.offeredTo("alice", by)
		a, err := s.desk.planAny(t.Context(), "bob", req, true)
		if err != nil || a.Refusal == nil || len(a.Refusal.Offers) == 0 {
			t.Fatalf("%s: %+v, %v", name, a, err)
		}
		s.Outlook.Rooms = len(s.kept("bob"))
		first := api.Refusal{Offers: slices.Clone(a.Refusal.Offers)}
		if err := s.desk.offer(t.Context(), "bob", req, &first, true, true); !errors.Is(err, errCrowded) {
			t.Errorf("%s, the first time: %v", name, err)
		}
		if err := s.desk.offer(t.Context(), "bob", req, a.Refusal, true, false); err != nil || len(a.Refusal.Offers) > 0 || a.Refusal.KeptUntil != 0 || !strings.HasSuffix(a.Refusal.Reason, allTaken) {
			t.Errorf("%s: %+v, %v", name, a.Refusal, err)
		}
		if a, err := s.desk.Plan(t.Context(), "bob", req, true); err != nil || len(a.Refusal.Offers) > 0 {
			t.Errorf("%s: %+v, %v", name, a.Refusal, err)
		}
	}
}

// An offer is not in the way of one that was made before: it was found to have room beside that.
func TestLaterOffersAreBehind(t *testing.T) {
	s := newSite(t)
	first := s.offeredTo("alice", desktest.Epoch+1800)
	second := s.offeredTo("bob", desktest.Epoch+1800)
	s.Outlook.Delay, s.Outlook.Rooms = 600, len(s.kept("bob"))
	if a, err := s.desk.Plan(t.Context(), "bob", second, true); err != nil || a.Plan != nil {
		t.Errorf("the second: %+v, %v", a, err)
	}
	if a, err := s.desk.Plan(t.Context(), "alice", first, true); err != nil || a.Plan == nil {
		t.Errorf("the first: %+v, %v", a, err)
	}
}

// What others are promised after an offer is not in its way either, unless they take what they were
// offered before it.
func TestLaterPromisesAreBehind(t *testing.T) {
	s := newSite(t)
	early := s.offeredTo("carol", desktest.Epoch+1800)
	taken := s.offeredTo("alice", desktest.Epoch+1800)
	promise := func(user string, req *api.PlanRequest) *api.Plan {
		a, err := s.desk.Plan(t.Context(), user, req, true)
		if err != nil {
			t.Fatal(err)
		}
		return a.Plan
	}
	s.Outlook.Delay = 600
	if promise("bob", desktest.Request(desktest.Epoch+7200)) == nil {
		t.Fatal("no room for bob")
	}
	s.Outlook.Rooms = 1
	if promise("dave", taken) != nil {
		t.Error("room beside bob's promise for dave, who was offered nothing")
	}
	if promise("carol", early) == nil {
		t.Error("bob's promise is in the way of carol's offer, which was made before")
	}
	if promise("alice", taken) != nil {
		t.Error("carol's promise is not in the way of alice's offer, which was made after carol's")
	}
	s.Outlook.Rooms = 2
	if promise("alice", taken) == nil {
		t.Error("bob's promise is in the way of alice's offer, which was made before")
	}
}
