package broker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
	"github.com/varq-project/varq/predictor/workload"
)

// groupSite is a site for groups. It notes what is done to its member.
type groupSite struct {
	name    string
	submit  error // of SubmitMember, which promises nothing
	confirm error
	lost    error   // of Release and Cancel
	asked   float64 // of the group, by SubmitMember
	log     *groupLog
}

// groupLog has what was done, in order.
type groupLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *groupLog) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// has returns how many lines equal line.
func (l *groupLog) has(line string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.lines {
		if other == line {
			n++
		}
	}
	return n
}

// before reports whether each line with the prefix first comes before every line with the prefix
// then.
func (l *groupLog) before(first, then string) bool {
	seen := false
	for _, line := range l.lines {
		if seen && strings.HasPrefix(line, first) {
			return false
		}
		seen = seen || strings.HasPrefix(line, then)
	}
	return true
}

func (s *groupSite) Name() string { return s.name }

func (s *groupSite) Probe(context.Context, api.ProbeRequest) (api.ProbeAnswer, error) {
	return api.ProbeAnswer{}, errors.New("nobody asks")
}

func (s *groupSite) Submit(context.Context, *api.Slot, int64) (sbatch.Submission, error) {
	return sbatch.Submission{}, errors.New("it is a member")
}

func (s *groupSite) SubmitMember(_ context.Context, slot *api.Slot, tentative int64, of sbatch.Member) (sbatch.Submission, error) {
	if s.submit != nil {
		return sbatch.Submission{}, s.submit
	}
	s.log.add("submit %s", s.name)
	s.asked = of.GroupProb
	return sbatch.Submission{Plan: &api.Plan{ID: "plan-" + s.name, BeginBy: slot.Start, WorkLimit: slot.Limit, Estimate: slot.Estimate, Tentative: tentative, Group: of.Group, Home: of.Home}, Job: int64(len(s.name))}, nil
}

func (s *groupSite) Confirm(_ context.Context, c api.Confirmation) error {
	s.log.add("confirm %s", c.Plan)
	return s.confirm
}

func (s *groupSite) Release(_ context.Context, plan string) error {
	s.log.add("release %s", plan)
	return s.lost
}

func (s *groupSite) Cancel(_ context.Context, _ *api.Plan, job int64) (bool, error) {
	s.log.add("scancel %d", job)
	return false, s.lost
}

// groupHome is a home that requires a probability.
type groupHome struct {
	required float64
	register []error // of the first calls
	giveUp   error   // of CancelGroup
	request  api.GroupRequest
	log      *groupLog
}

func (h *groupHome) QuoteGroup(_ context.Context, r api.GroupRequest) (api.GroupQuote, error) {
	any, all := 1., 1.
	for _, m := range r.Members {
		any, all = any*(1-m.Prob), all*m.Prob
	}
	q := api.GroupQuote{Prob: 1 - any, Required: h.required}
	if r.Kind == api.GroupAll {
		q.Prob = all
		if len(r.Members) == 3 { // the last two are alternatives
			q.Prob = r.Members[0].Prob * (1 - (1-r.Members[1].Prob)*(1-r.Members[2].Prob))
		}
	}
	return q, nil
}

func (h *groupHome) RegisterGroup(ctx context.Context, r api.GroupRequest) (api.GroupQuote, error) {
	if len(h.register) > 0 {
		err := h.register[0]
		h.register = h.register[1:]
		return api.GroupQuote{}, err
	}
	q, _ := h.QuoteGroup(ctx, r)
	if q.Prob < q.Required {
		return q, api.Fault(api.ErrConflict, "together it is too little")
	}
	h.log.add("register")
	h.request = r
	return q, nil
}

func (h *groupHome) CancelGroup(_ context.Context, c api.GroupCancellation) error {
	h.log.add("give up")
	if c.Group != h.request.ID {
		return errors.New("another group")
	}
	return h.giveUp
}

func TestReserveGroup(t *testing.T) {
	const instead = ": try a later --latest, more --clusters of which one will do, or a lower --min-prob"
	gone, silent := api.Fault(api.ErrConflict, "it is gone"), errors.New("no answer")
	unsure := groupSite{confirm: api.Fault(api.ErrForbidden, "it does not say"), lost: api.Fault(api.ErrForbidden, "nor now")}
	for name, test := range map[string]struct {
		kind          string
		required      float64
		alpha, beta   groupSite
		register      []error
		giveUp        error
		members       int    // of the group
		why           string // nothing is reserved
		confirmed     int
		released      int
		givenUp       int
		notRegistered bool
		doubt         bool
		prob          float64 // the quoted probability, if it is not 0
	}{
		"any, one is in doubt":          {kind: api.GroupAny, required: .6, beta: unsure, members: 2, confirmed: 2, released: 1, prob: .8},
		"any, and without it too few":   {kind: api.GroupAny, required: .9, beta: unsure, why: "together the jobs have probability 0.80, less than 0.90" + instead, confirmed: 2, released: 3, givenUp: 1},
		"any, all are in doubt":         {kind: api.GroupAny, required: .6, alpha: unsure, beta: unsure, members: 2, confirmed: 2, released: 2, doubt: true},
		"all, one is in doubt":          {kind: api.GroupAll, required: .5, beta: unsure, members: 2, confirmed: 2, released: 1, doubt: true},
		"any":                           {kind: api.GroupAny, required: .9, members: 2, confirmed: 2},
		"any, too little":               {kind: api.GroupAny, required: .99, why: "together the jobs have probability 0.94, less than 0.99" + instead, notRegistered: true},
		"any, one is gone":              {kind: api.GroupAny, required: .6, alpha: groupSite{submit: gone}, members: 1, confirmed: 1},
		"any, what is left is too few":  {kind: api.GroupAny, required: .9, alpha: groupSite{submit: gone}, why: "together it is too little", released: 1, notRegistered: true},
		"any, none is left":             {kind: api.GroupAny, required: .9, alpha: groupSite{submit: gone}, beta: groupSite{submit: gone}, why: "none of the jobs is to be had", notRegistered: true},
		"any, one is not confirmed":     {kind: api.GroupAny, required: .6, beta: groupSite{confirm: gone}, members: 1, confirmed: 2, released: 1, prob: .8},
		"any, and the rest too few":     {kind: api.GroupAny, required: .9, beta: groupSite{confirm: gone}, why: "together the jobs have probability 0.80, less than 0.90" + instead, confirmed: 2, released: 2, givenUp: 1},
		"any, none is confirmed":        {kind: api.GroupAny, required: .6, alpha: groupSite{confirm: gone}, beta: groupSite{confirm: gone}, why: "none of the jobs is to be had", confirmed: 2, released: 4, givenUp: 1},
		"the home is slow":              {kind: api.GroupAny, required: .9, register: []error{silent, silent}, members: 2, confirmed: 2},
		"the home refuses":              {kind: api.GroupAny, required: .9, register: []error{silent, gone}, why: "it is gone", released: 2, notRegistered: true},
		"any, and its work has begun":   {kind: api.GroupAny, required: .9, beta: groupSite{confirm: gone}, giveUp: api.Fault(api.ErrConflict, "the work has begun"), members: 1, confirmed: 2, released: 2, givenUp: 1, prob: .8},
		"any, and the home is unable":   {kind: api.GroupAny, required: .9, beta: groupSite{confirm: gone}, giveUp: api.Fault(api.ErrForbidden, "it does not say"), members: 1, confirmed: 2, released: 2, givenUp: 1, doubt: true},
		"any, and the home knows none":  {kind: api.GroupAny, required: .9, beta: groupSite{confirm: gone}, giveUp: api.Fault(api.ErrNotFound, "there is no such group"), why: "together the jobs have probability 0.80, less than 0.90" + instead, confirmed: 2, released: 2, givenUp: 1},
		"all, and the home is unable":   {kind: api.GroupAll, required: .5, beta: groupSite{confirm: gone}, giveUp: api.Fault(api.ErrForbidden, "it does not say"), why: "not all jobs are to be had", confirmed: 2, released: 3, givenUp: 1},
		"all":                           {kind: api.GroupAll, required: .5, members: 2, confirmed: 2},
		"all, too little":               {kind: api.GroupAll, required: .9, why: "together the jobs have probability 0.56, less than 0.90" + instead, notRegistered: true},
		"all, one is gone":              {kind: api.GroupAll, required: .5, beta: groupSite{submit: gone}, why: "not all jobs are to be had", released: 1, notRegistered: true},
		"all, one cannot be confirmed":  {kind: api.GroupAll, required: .5, beta: groupSite{confirm: gone}, why: "not all jobs are to be had", confirmed: 2, released: 3, givenUp: 1},
		"all, but the home is not able": {kind: api.GroupAll, required: .5, register: []error{gone}, why: "it is gone", released: 2, notRegistered: true},
	} {
		t.Run(name, func(t *testing.T) {
			log := &groupLog{}
			test.alpha.name, test.beta.name = "alpha", "beta"
			test.alpha.log, test.beta.log = log, log
			home := &groupHome{required: test.required, register: test.register, giveUp: test.giveUp, log: log}
			chosen := []broker.Choice{
				{Site: "alpha", Slot: api.Slot{Start: 100, Nodes: 1, Limit: 60, Prob: .5, Estimate: .8}},
				{Site: "beta", Slot: api.Slot{Start: 100, Nodes: 1, Limit: 60, Prob: .5, Estimate: .7}},
			}
			out, err := broker.ReserveGroup(t.Context(), []broker.GroupSite{&test.alpha, &test.beta}, home, chosen, broker.GroupOptions{
				Options: broker.Options{Tentative: 60, Pause: time.Millisecond, Now: time.Now}, Kind: test.kind, Prob: test.required, HomeName: "alpha",
			})
			if errors.As(err, new(*broker.Doubt)) != test.doubt || err != nil && !test.doubt {
				t.Fatal(err)
			}
			if test.prob != 0 && math.Abs(out.Quote.Prob-test.prob) > 1e-9 {
				t.Errorf("probability %v is told", out.Quote.Prob)
			}
			if len(out.Members) != test.members || out.Why != test.why || (out.Group == "") != (test.why != "") {
				t.Errorf("%d members, why %q, group %q", len(out.Members), out.Why, out.Group)
			}
			for _, m := range out.Members {
				if m.Plan.Group != out.Group || m.Plan.Home != "alpha" {
					t.Errorf("a member is of group %q at %q", m.Plan.Group, m.Plan.Home)
				}
			}
			for _, s := range []*groupSite{&test.alpha, &test.beta} {
				if s.submit == nil && log.has("submit "+s.name) > 0 && s.asked != test.required {
					t.Errorf("site %s learns that the group is to have probability %v", s.name, s.asked)
				}
			}
			confirmed := log.has("confirm plan-alpha") + log.has("confirm plan-beta")
			released := log.has("release plan-alpha") + log.has("release plan-beta")
			if confirmed != test.confirmed || released != test.released || log.has("give up") != test.givenUp || (log.has("register") == 0) != test.notRegistered {
				t.Errorf("%q", log.lines)
			}
			if !log.before("submit", "register") || !log.before("register", "confirm") {
				t.Errorf("a promise was confirmed before its home knew the group: %q", log.lines)
			}
		})
	}
}

// A job that cannot be reserved does not fail its group if there is an alternative to it.
func TestReserveGroupWithAlternatives(t *testing.T) {
	gone := api.Fault(api.ErrConflict, "it is gone")
	for name, test := range map[string]struct {
		alpha, beta, gamma groupSite
		required           float64
		members, givenUp   int
		why                string
	}{
		"all are had":                    {members: 3},
		"an alternative is gone":         {beta: groupSite{submit: gone}, members: 2},
		"one is not confirmed":           {gamma: groupSite{confirm: gone}, members: 2},
		"both alternatives are gone":     {beta: groupSite{submit: gone}, gamma: groupSite{submit: gone}, why: "not all jobs are to be had"},
		"neither is confirmed":           {beta: groupSite{confirm: gone}, gamma: groupSite{confirm: gone}, givenUp: 1, why: "not all jobs are to be had"},
		"the one without an alternative": {alpha: groupSite{submit: gone}, why: "not all jobs are to be had"},
		"what is left is too little":     {beta: groupSite{submit: gone}, required: .6, why: "together it is too little"},
	} {
		t.Run(name, func(t *testing.T) {
			log := &groupLog{}
			var sites []broker.GroupSite
			var chosen []broker.Choice
			for i, s := range []*groupSite{&test.alpha, &test.beta, &test.gamma} {
				s.name, s.log = []string{"alpha", "beta", "gamma"}[i], log
				sites = append(sites, s)
				chosen = append(chosen, broker.Choice{Site: s.name, Part: []int{1, 2, 2}[i], Slot: api.Slot{Start: 100, Nodes: 1, Limit: 60, Prob: .5, Estimate: []float64{.8, .7, .6}[i]}})
			}
			home := &groupHome{required: test.required, log: log}
			out, err := broker.ReserveGroup(t.Context(), sites, home, chosen, broker.GroupOptions{
				Options: broker.Options{Tentative: 60, Pause: time.Millisecond, Now: time.Now}, Kind: api.GroupAll,
			})
			if err != nil || len(out.Members) != test.members || out.Why != test.why || log.has("give up") != test.givenUp {
				t.Fatalf("%+v, %v: %q", out, err, log.lines)
			}
			if test.members == 0 {
				return
			}
			for _, m := range home.request.Members {
				if want := map[string]int{"alpha": 1, "beta": 2, "gamma": 2}[m.Site]; m.Part != want {
					t.Errorf("%s is of part %d", m.Site, m.Part)
				}
			}
		})
	}
}

// An interruption leaves nothing behind.
func TestReserveGroupInterrupted(t *testing.T) {
	log := &groupLog{}
	ctx, cancel := context.WithCancel(t.Context())
	alpha, beta := &groupSite{name: "alpha", log: log}, &groupSite{name: "beta", log: log}
	home := &groupHome{log: log, register: []error{errors.New("no answer")}}
	cancel()
	chosen := []broker.Choice{{Site: "alpha", Slot: api.Slot{Estimate: .8}}, {Site: "beta", Slot: api.Slot{Estimate: .7}}}
	_, err := broker.ReserveGroup(ctx, []broker.GroupSite{alpha, beta}, home, chosen, broker.GroupOptions{Options: broker.Options{Tentative: 60, Pause: time.Millisecond, Now: time.Now}, Kind: api.GroupAny})
	if !errors.Is(err, broker.ErrInterrupted) || log.has("release plan-alpha") != 1 || log.has("release plan-beta") != 1 || log.has("register") != 0 {
		t.Errorf("%v: %q", err, log.lines)
	}
}

func TestChoose(t *testing.T) {
	slot := func(partition string, start int64, nodes int32, estimate, cost float64) api.Slot {
		return api.Slot{Partition: partition, Start: start, End: start + 60, Nodes: nodes, Limit: 60, Estimate: estimate, Cost: cost}
	}
	answers := []broker.Answer{
		{Site: "alpha", ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{
			slot("main", 100, 1, .9, 2), slot("main", 100, 2, .8, 1), slot("long", 100, 1, .95, 3), slot("main", 200, 1, .99, 1),
		}}},
		{Site: "beta", ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{slot("main", 100, 1, .7, 5), slot("main", 300, 1, .99, 1), slot("main", 200, 1, .99, 1)}}},
		{Site: "gamma", Error: "no answer"},
	}
	names := func(chosen []broker.Choice) (list []string) {
		for _, c := range chosen {
			list = append(list, fmt.Sprintf("%s %s %d on %d", c.Site, c.Partition, c.Start, c.Nodes))
		}
		return list
	}
	cheap, err := elastic.ParsePreferences("cost,end")
	if err != nil {
		t.Fatal(err)
	}
	// The cheapest slot of each site and partition, cheapest first.
	if diff := cmp.Diff([]string{"alpha main 100 on 2", "beta main 200 on 1", "alpha long 100 on 1"}, names(broker.ChooseAny(answers, cheap))); diff != "" {
		t.Error(diff)
	}
	// Together the jobs are cheapest at 200. At 100 they end first, and there alpha's most probable
	// partition is long.
	both := broker.Together{Parts: [][]string{{"alpha"}, {"beta"}}, Prefer: cheap}
	if diff := cmp.Diff([]string{"alpha main 200 on 1", "beta main 200 on 1"}, names(both.Choose(answers[:2]))); diff != "" {
		t.Error(diff)
	}
	both.Prefer = elastic.DefaultPreferences()
	if diff := cmp.Diff([]string{"alpha long 100 on 1", "beta main 100 on 1"}, names(both.Choose(answers[:2]))); diff != "" {
		t.Error(diff)
	}
	if both.Prob = .7; both.Choose(answers)[0].Start != 200 { // at 100 it is .95 x .7
		t.Error("what is too improbable is chosen")
	}
	three := broker.Together{Parts: [][]string{{"alpha"}, {"beta"}, {"gamma"}}, Prefer: cheap}
	if got := three.Choose(answers); got != nil { // gamma has none
		t.Errorf("all of three: %v", names(got))
	}
	// With alternatives, each part has all slots that fit, in the order of preference.
	nested := broker.Together{Parts: [][]string{{"alpha"}, {"gamma", "beta"}}, Prefer: cheap}
	if diff := cmp.Diff([]string{"alpha main 200 on 1", "beta main 200 on 1"}, names(nested.Choose(answers))); diff != "" {
		t.Error(diff)
	}
	answers[2] = broker.Answer{Site: "gamma", ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{slot("main", 100, 1, .6, 1)}}}
	nested.Prefer = elastic.DefaultPreferences()
	if diff := cmp.Diff([]string{"alpha long 100 on 1", "gamma main 100 on 1", "beta main 100 on 1"}, names(nested.Choose(answers))); diff != "" {
		t.Error(diff)
	}
	if nested.Prob = .83; len(nested.Choose(answers)) != 3 { // .95 x (1 - .3 x .4) = .836
		t.Error("what alternatives raise is not counted")
	}
	nested.Partitions = true
	want := []string{"alpha main 100 on 1", "alpha long 100 on 1", "gamma main 100 on 1", "beta main 100 on 1"}
	if diff := cmp.Diff(want, names(nested.Choose(answers))); diff != "" {
		t.Error(diff)
	}
}

// If there are too many alternatives, the last are left out, but each part keeps one.
func TestChooseBounded(t *testing.T) {
	var answers []broker.Answer
	together := broker.Together{Parts: [][]string{{}, {}}, Prefer: elastic.DefaultPreferences()}
	for i := range 30 {
		name := fmt.Sprint("site", i)
		part := min(i, 1)
		together.Parts[part] = append(together.Parts[part], name)
		answers = append(answers, broker.Answer{Site: name, ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{{Start: 100, End: 160, Nodes: 1, Limit: 60, Estimate: .9, Cost: float64(i)}}}})
	}
	got := together.Choose(answers)
	if len(got) != api.MaxGroupMembers || got[0].Site != "site0" || got[1].Site != "site1" || got[15].Site != "site15" {
		t.Errorf("%v", got)
	}
}

// offering is a site with one slot. It notes the probability of a group for which it is asked.
type offering struct {
	*groupSite
	probed float64
}

func (s *offering) Probe(_ context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	s.probed = r.GroupProb
	size := r.Sizes[0]
	slot := api.Slot{Start: r.Latest, End: r.Latest + size.Limit, Nodes: size.Nodes, Limit: size.Limit, Prob: .85, Estimate: .9, Work: api.Cost{BillingSeconds: 60}}
	return api.ProbeAnswer{Slots: []api.Slot{slot}}, nil
}

// A user who names no probability gets the home's default: the sites are asked for it, the quote is
// about it, and the home registers it.
func TestRunDefaultProbability(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{api.GroupAny, api.GroupAll} {
		log := &groupLog{}
		site, home := &offering{groupSite: &groupSite{name: "alpha", log: log}}, &groupHome{required: .85, log: log}
		r := broker.Request{Kind: kind, Home: home, Parts: [][]string{{"alpha"}}, Patience: 60, Now: time.Now}
		r.Probe = api.ProbeRequest{Latest: 100, Slots: 1, Sizes: []api.Size{{Size: workload.Size{Nodes: 1}, Limit: 60}}}
		result, err := broker.Run(t.Context(), []broker.Site{site}, r)
		if err != nil || result.Group.Group == "" {
			t.Fatalf("%s: %v, %+v", kind, err, result.Group)
		}
		if site.probed != .85 || site.asked != .85 || home.request.Prob != .85 {
			t.Errorf("%s: the site is asked for %v and %v, and the home registers %v", kind, site.probed, site.asked, home.request.Prob)
		}
	}
}
