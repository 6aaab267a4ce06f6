package desk

import (
	gocmp "cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/tariff"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func probeRequest() *api.ProbeRequest {
	return &api.ProbeRequest{
		Sizes: []api.Size{
			{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 7200},
			{Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 3600},
		},
		Earliest: desktest.Epoch - 60, FinishBy: desktest.Epoch + 5*3600, Slots: 7, Gap: 600,
	}
}

// Of names that no window, size or probability helps, the answer says so.
func TestProbeOfUnknownNames(t *testing.T) {
	s := newSite(t)
	for name, change := range map[string]func(r *api.ProbeRequest){
		"":           func(*api.ProbeRequest) {},
		"size":       func(r *api.ProbeRequest) { r.Sizes = r.Sizes[:1]; r.Sizes[0].Nodes = 1000 },
		"partition!": func(r *api.ProbeRequest) { r.Partitions = []string{"nosuch"} },
		"one":        func(r *api.ProbeRequest) { r.Partitions = []string{"main", "nosuch"} },
		"QOS!":       func(r *api.ProbeRequest) { r.Job.QOS = "nosuch" },
	} {
		req := probeRequest()
		change(req)
		a, err := s.desk.Probe(t.Context(), "alice", req)
		if err != nil || a.Final != strings.HasSuffix(name, "!") || a.Final && (len(a.Slots) > 0 || len(a.Reasons) == 0) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// If there are more reasons than an answer shows, it shows the last and their number.
func TestProbeTellsManyReasons(t *testing.T) {
	s := newSite(t)
	s.Slurm.Limits.MaxTRES = limits.TRES{"node": 1}
	s.Refresh()
	req := probeRequest()
	req.Sizes = nil
	for nodes := range int32(18) {
		req.Sizes = append(req.Sizes, api.Size{Size: workload.Size{Nodes: 2 + nodes, CPUs: 2 + nodes}, Limit: 3600})
	}
	a, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Reasons) != elastic.MostReasons || !strings.HasPrefix(a.Reasons[0], "2 nodes: ") || !strings.HasPrefix(a.Reasons[elastic.MostReasons-1], "3 more, of which the last is: 19 nodes: ") {
		t.Errorf("%q, %v", a.Reasons, err)
	}
}

// A Probe has exactly the slots that Plan would promise.
func TestProbeIsAsManyPlans(t *testing.T) {
	for name, change := range map[string]func(s *site, req *api.ProbeRequest){
		"as it is":       func(*site, *api.ProbeRequest) {},
		"best effort":    func(_ *site, req *api.ProbeRequest) { req.BestEffort = true },
		"a late window":  func(_ *site, req *api.ProbeRequest) { req.Earliest = desktest.Epoch + 3600 },
		"a latest start": func(_ *site, req *api.ProbeRequest) { req.Latest = desktest.Epoch + 2*3600 },
		"no end":         func(_ *site, req *api.ProbeRequest) { req.Latest, req.FinishBy = desktest.Epoch+2*3600, 0 },
		"long waits":     func(s *site, _ *api.ProbeRequest) { s.Outlook.Delay = 7000 },
		"a small limit":  func(s *site, _ *api.ProbeRequest) { s.Slurm.Limits.MaxTRES = limits.TRES{"node": 2} },
		"two partitions": func(s *site, req *api.ProbeRequest) { s.Slurm.Short, req.Partitions = 3600, []string{"main", "short"} },
		"a ceiling":      func(s *site, req *api.ProbeRequest) { s.Outlook.Delay, req.MaxCost.NodeSeconds = 3000, 6800 },
		"a multiple":     func(s *site, req *api.ProbeRequest) { s.Outlook.Delay, req.MaxCost.Times = 3000, 2 },
		"the site's": func(s *site, _ *api.ProbeRequest) {
			s.Outlook.Delay, s.desk.Policy = 3000, policy.Rules{{Name: "dear", Cost: policy.Cost{Times: 3}}}
		},
		"a higher promise": func(_ *site, req *api.ProbeRequest) { req.Prob = .97 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			req := probeRequest()
			change(s, req)
			s.Refresh()
			got, err := s.desk.Probe(t.Context(), "alice", req)
			if err != nil {
				t.Fatal(err)
			}
			var want []api.Slot
			none := 0 // sizes in partitions without a slot
			for _, partition := range partitionsOf(req) {
				for _, size := range req.Sizes {
					before := len(want)
					for _, start := range elastic.StartTimes(max(req.Earliest, desktest.Epoch+elastic.SubmissionTime), req.Ends(size.Limit), size.Limit, req.Slots, req.Gap) {
						plan := &api.PlanRequest{Job: workload.Request{Partition: partition, Size: size.Size, Limit: size.Limit}, BeginBy: start, Prob: req.Prob, BestEffort: req.BestEffort, MaxCost: req.MaxCost}
						a, err := s.desk.Plan(t.Context(), "alice", plan, false)
						if err != nil {
							t.Fatal(err)
						}
						if p := a.Plan; p != nil {
							want = append(want, api.Slot{
								Partition: "main", Start: start, End: start + size.Limit, Nodes: size.Nodes, Limit: size.Limit,
								Prob: p.Prob, Estimate: p.Estimate, Work: p.Work, Worst: p.AtMost(), Cost: (p.Work.BillingSeconds + p.AtMost().BillingSeconds) / 3600,
							})
							if partition != "" {
								want[len(want)-1].Partition = partition
							}
						}
					}
					if len(want) == before {
						none++
					}
				}
			}
			order := func(a, b api.Slot) int {
				return gocmp.Or(gocmp.Compare(a.Partition, b.Partition), gocmp.Compare(a.Start, b.Start), gocmp.Compare(a.Nodes, b.Nodes))
			}
			slices.SortFunc(want, order)
			slices.SortFunc(got.Slots, order)
			if diff := cmp.Diff(want, got.Slots, cmpopts.EquateApprox(0, 1e-3)); diff != "" {
				t.Error(diff)
			}
			if len(want) == 0 || got.Cut || none != len(got.Reasons) {
				t.Errorf("%d slots, cut: %v, reasons: %q", len(want), got.Cut, got.Reasons)
			}
		})
	}
}

// A window that has passed, or is too short, has no slot, and a Probe says so.
func TestProbeOfNoWindow(t *testing.T) {
	s := newSite(t)
	req := probeRequest()
	req.Earliest, req.FinishBy = desktest.Epoch, desktest.Epoch+3000
	a, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Slots) != 0 || len(a.Reasons) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	// A single slot is the latest.
	req = probeRequest()
	req.Slots = 1
	if a, err = s.desk.Probe(t.Context(), "alice", req); err != nil || len(a.Slots) != 2 || a.Slots[0].End != req.FinishBy || a.Slots[1].End != req.FinishBy {
		t.Errorf("%+v, %v", a, err)
	}
}

// There is enough time to submit the job of the first slot. If the window has no such slot, it has
// one nevertheless.
func TestProbeLeavesTimeToSubmit(t *testing.T) {
	for latest, want := range map[int64]int64{desktest.Epoch + 3600: desktest.Epoch + 10, desktest.Epoch + 4: desktest.Epoch + 4} {
		s := newSite(t)
		s.Outlook.Delay = 0
		req := probeRequest()
		req.Latest, req.FinishBy, req.BestEffort = latest, 0, true
		a, err := s.desk.Probe(t.Context(), "alice", req)
		if err != nil || len(a.Slots) == 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		first := slices.MinFunc(a.Slots, func(a, b api.Slot) int { return gocmp.Compare(a.Start, b.Start) })
		if first.Start != want {
			t.Errorf("a window until %d: the first slot is %d s from now, wanted %d", latest-desktest.Epoch, first.Start-desktest.Epoch, want-desktest.Epoch)
		}
	}
}

// If a window is shorter than the gap, both its ends are tried: a job that cannot be promised at
// once may be promised later.
func TestProbeOfAShortWindow(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 600
	req := probeRequest()
	req.Earliest, req.Latest, req.FinishBy, req.Gap = desktest.Epoch, desktest.Epoch+3600, 0, 7200
	a, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Slots) != 2 || a.Slots[0].Start != req.Latest || a.Slots[1].Start != req.Latest {
		t.Errorf("%+v, %v", a, err)
	}
}

// If a size has no slot, the reason is about the latest time of the window, for which most jobs can
// be promised.
func TestProbeTellsTheBest(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 600
	req := probeRequest()
	req.Sizes[0].Nodes, req.Sizes[0].CPUs = 1, 1
	req.Earliest, req.Latest, req.FinishBy, req.Gap, req.Prob = desktest.Epoch, desktest.Epoch+3600, 0, 1, .985
	a, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Reasons) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	req.Slots = 1
	if latest, err := s.desk.Probe(t.Context(), "alice", req); err != nil || !slices.Equal(latest.Reasons, a.Reasons) || !strings.HasPrefix(a.Reasons[0], "1 node: ") {
		t.Errorf("of the window %q, of its latest time %q, %v", a.Reasons, latest.Reasons, err)
	}
}

// A Probe promises nothing, and promises to others leave no room in its slots.
func TestProbePromisesNothing(t *testing.T) {
	s := newSite(t)
	if _, err := s.desk.Probe(t.Context(), "alice", probeRequest()); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Ledger.Select(t.Context(), ledger.Query{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A Probe that nobody waits for any more ends.
func TestProbeEnds(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.desk.Probe(ctx, "alice", probeRequest()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Slurm.Down = slurm.ErrUnavailable
	s.Clock += 3600
	if _, err := s.desk.Probe(t.Context(), "alice", probeRequest()); !errors.Is(err, api.ErrUnavailable) {
		t.Error(err)
	}
}

// Work takes less time at sites with faster processors. Sites charge by their tariffs.
func TestProbeOfASite(t *testing.T) {
	s := newSite(t)
	double, err := tariff.ParseWeek([]string{"Mon-Sun: 2"})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := tariff.New(tariff.Config{UnitCost: 3, UnitSeconds: 1800, Scale: double, Accounts: map[string]float64{"": .5}, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.desk.Probe(t.Context(), "alice", probeRequest())
	if err != nil {
		t.Fatal(err)
	}
	s.desk.Site = Site{Power: 2000, Tariff: prices, Unit: "EUR"}
	req := probeRequest()
	for i := range req.Sizes {
		req.Sizes[i].Limit *= 2
	}
	req.Power = 1000
	after, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil {
		t.Fatal(err)
	}
	want := before
	want.Unit = "EUR"
	want.Slots = slices.Clone(before.Slots)
	for i := range want.Slots {
		want.Slots[i].Cost *= 3 * 2 * 2 * .5
	}
	if diff := cmp.Diff(want, after, cmpopts.EquateApprox(0, 1e-2)); diff != "" {
		t.Error(diff)
	}
}

// Work that may start as soon as its job does is priced at the dearest hours at which it may run.
func TestProbeTellsTheDearestHours(t *testing.T) {
	s := newSite(t)
	prices, err := tariff.ParseWeek([]string{"08-09: 10"}) // the clock shows eight
	if err != nil {
		t.Fatal(err)
	}
	s.desk.Site.Tariff, err = tariff.New(tariff.Config{UnitCost: 1, UnitSeconds: 3600, Scale: prices, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	req := probeRequest()
	req.Earliest, req.BestEffort = desktest.Epoch+2*3600, true
	a, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Slots) == 0 {
		t.Fatal(a, err)
	}
	for _, slot := range a.Slots {
		dearest := 0.
		for start := int64(desktest.Epoch); start <= slot.Start; start += 60 {
			dearest = max(dearest, s.desk.Site.Tariff.Cost(float64(slot.Nodes), start, start+slot.Limit, ""))
		}
		if diff := cmp.Diff(dearest, slot.Cost, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("until %d: %s", slot.Start-desktest.Epoch, diff)
		}
	}
}

// idleNodes is a number of idle nodes that is the same at any time of day.
type idleNodes float64

func (i idleNodes) History(context.Context, string) (*esr.History, error) {
	h := &esr.History{Zone: time.UTC}
	for at := int64(0); at < 86400; at += esr.Interval {
		h.Record(at, float64(i))
	}
	return h, nil
}

// A Probe returns success rates if it is asked for them, by the methods of the paper.
func TestProbeESR(t *testing.T) {
	s := newSite(t)
	// Of 250 processors, 100 are busy for another hour, and work for 100 of them waits: 1800 s, and
	// 720 s.
	s.Outlook.Known = []workload.Job{
		{ID: 1, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 100}, Limit: 7200}, Eligible: desktest.Epoch - 4000, Start: desktest.Epoch - 3600},
		{ID: 2, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 100}, Limit: 3600}, Eligible: desktest.Epoch - 4000},
	}
	s.Refresh()
	req := probeRequest()
	plain, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plain.Slots {
		if plain.Slots[i].ESR != nil {
			t.Fatalf("nobody has asked for %+v", plain.Slots[i].ESR)
		}
	}
	req.ESR = true
	check := func(history func(nodes int32) *float64) {
		t.Helper()
		got, err := s.desk.Probe(t.Context(), "alice", req)
		if err != nil || len(got.Slots) != len(plain.Slots) {
			t.Fatalf("%d slots instead of %d, %v", len(got.Slots), len(plain.Slots), err)
		}
		early := 0
		for i := range got.Slots {
			slot := &got.Slots[i]
			want := api.ESR{Static: esr.Static(slot.Start-desktest.Epoch, esr.PaperScale), History: history(slot.Nodes), Load: 1}
			if slot.Start < desktest.Epoch+1800+720 {
				want.Load = 0
				early++
			}
			if diff := cmp.Diff(&want, slot.ESR, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("slot at %d: %s", slot.Start-desktest.Epoch, diff)
			}
		}
		if early == 0 || early == len(got.Slots) {
			t.Errorf("%d of %d slots are before the known work ends", early, len(got.Slots))
		}
	}
	check(func(int32) *float64 { return nil })
	s.desk.Idle = idleNodes(5)
	check(func(nodes int32) *float64 { rate := esr.Rate(nodes, 5); return &rate })
}

// The site's policy bounds the probability of a group before its members are submitted.
func TestProbeForGroup(t *testing.T) {
	s := newSite(t)
	s.desk.Policy = policy.Rules{{Name: "half", MaxProb: .5}}
	s.Refresh()
	req := probeRequest()
	req.Prob = .02
	if got, err := s.desk.Probe(t.Context(), "alice", req); err != nil || len(got.Slots) == 0 {
		t.Fatal(got, err)
	}
	req.GroupProb = .9
	got, err := s.desk.Probe(t.Context(), "alice", req)
	if err != nil || len(got.Slots) != 0 || len(got.Reasons) == 0 || !strings.HasSuffix(got.Reasons[0], "ask for --min-prob=0.5 or less") {
		t.Error(got, err)
	}
}
