package desk

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

func sizesRequest(prefer string) *api.PlanRequest {
	return &api.PlanRequest{
		Sizes: []api.Size{
			{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 9000},
			{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 7200},
			{Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 4200},
		},
		BeginBy: desktest.Epoch + 7200, Prefer: prefer,
	}
}

// Among several sizes the one that the user prefers is promised, and the next one is named.
func TestSizesByPreference(t *testing.T) {
	for prefer, want := range map[string][2]int32{
		"":               {4, 2}, // the first to end
		"end":            {4, 2},
		"nodes":          {1, 2},
		"-nodes":         {4, 2},
		"cost":           {1, 2},
		"-time":          {1, 2},
		"prob,-nodes":    {4, 2}, // all are equally probable
		"prob,cost":      {1, 2},
		"-work,cost,end": {4, 2},
	} {
		for _, promise := range []bool{false, true} {
			s := newSite(t)
			a, err := s.desk.Plan(t.Context(), "alice", sizesRequest(prefer), promise)
			if err != nil || a.Plan == nil || a.RunnerUp == nil {
				t.Fatalf("%q: %+v, %v", prefer, a, err)
			}
			if got := [2]int32{a.Plan.SizeNodes, a.RunnerUp.Nodes}; got != want || (a.Plan.ID != "") != promise {
				t.Errorf("%q: sizes %v, wanted %v; id %q", prefer, got, want, a.Plan.ID)
			}
			list, err := s.Ledger.Select(t.Context(), ledger.Query{})
			if err != nil || promise != (len(list) == 1) || promise && list[0].Nodes != want[0] {
				t.Errorf("%q: %+v, %v", prefer, list, err)
			}
		}
	}
}

// One more size that cannot be promised costs a plan, and not a search for offers: offers are
// searched for the nearest size only.
func TestSizesSearchOffersOnce(t *testing.T) {
	forecasts := func(sizes int) int {
		s := newSite(t)
		s.Outlook.Delay, s.Outlook.Asked = 10*3600, map[int64]int{}
		req := sizesRequest("")
		req.Sizes = nil
		for n := range int32(sizes) {
			req.Sizes = append(req.Sizes, api.Size{Size: workload.Size{Nodes: n + 1, CPUs: n + 1}, Limit: 4200})
		}
		a, err := s.desk.Plan(t.Context(), "alice", req, true)
		if err != nil || a.Plan != nil || len(a.Refusal.Offers) == 0 {
			t.Fatalf("%d sizes: %+v, %v", sizes, a, err)
		}
		return s.Outlook.Asked[0]
	}
	if one, ten := forecasts(1), forecasts(10); ten > 2*one {
		t.Errorf("one size takes %d forecasts, and ten %d", one, ten)
	}
}

// If a promise of several sizes cannot be written down, the error is the same as for one size, and
// no size is called impossible.
func TestSizesOnAFullDisk(t *testing.T) {
	s := newSite(t)
	s.FillDisk()
	var err error
	for range ledger.MaxUnclaimed {
		if _, err = s.desk.Plan(t.Context(), "alice", sizesRequest(""), true); err != nil {
			break
		}
	}
	if !errors.Is(err, api.ErrUnavailable) || err.Error() != "the promise could not be written down, so none is made" {
		t.Errorf("got %v", err)
	}
}

// A size that Slurm's limits forbid is left out. If none can be promised, the refusal gives the
// reason for the nearest size.
func TestSizesThatCannotBe(t *testing.T) {
	s := newSite(t)
	s.Slurm.Limits.MaxTRES = limits.TRES{"node": 3}
	s.Refresh()
	a, err := s.desk.Plan(t.Context(), "alice", sizesRequest(""), true)
	if err != nil || a.Plan == nil || a.Plan.SizeNodes != 2 || a.RunnerUp == nil || a.RunnerUp.Nodes != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if len(a.LeftOut) != 1 || !strings.HasPrefix(a.LeftOut[0], "4 nodes: ") {
		t.Errorf("left out: %q", a.LeftOut)
	}
	s.Slurm.Limits.MaxTRES = limits.TRES{"node": 1}
	s.Refresh()
	req := sizesRequest("")
	req.Sizes = req.Sizes[1:]
	a, err = s.desk.Plan(t.Context(), "alice", req, true)
	if err != nil || a.Plan != nil || !strings.HasPrefix(a.Refusal.Reason, "none of the 2 sizes can be promised; of 2 nodes: ") {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
	for _, o := range a.Refusal.Offers {
		if o.Kind == api.OfferNodes || o.Kind == api.OfferTime {
			t.Errorf("an offer of another size: %+v", o)
		}
	}
	if _, err := s.desk.Plan(t.Context(), "alice", sizesRequest("beauty"), true); !errors.Is(err, api.ErrInvalid) || !strings.HasPrefix(err.Error(), `prefer: "beauty" is not a preference`) {
		t.Error(err)
	}
}

// If all sizes were refused, and the nearest can be promised a moment later, the user is told of
// the others.
func TestSizesFreeAgain(t *testing.T) {
	s := newSite(t)
	req, refused := sizesRequest(""), refusedSizes{}
	for i := range req.Sizes {
		refused.add(&req.Sizes[i], &api.PlanAnswer{
			Refusal:    &api.Refusal{Reason: "promises made before take the nodes"},
			Trajectory: []api.Point{{Prob: []float64{.2, .4, .1}[i]}},
		})
	}
	a, err := s.desk.refuseSizes(t.Context(), "alice", req, true, &refused)
	if err != nil || a.Plan == nil || a.Plan.SizeNodes != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	if want := []string{"1 or 4 nodes: promises made before take the nodes"}; !slices.Equal(a.LeftOut, want) {
		t.Errorf("left out: %q, wanted %q", a.LeftOut, want)
	}
}

// The best size of a job without a promise is the one with which it is expected to end first, or
// with which it works least.
func TestSize(t *testing.T) {
	s := newSite(t)
	size := func(by string, sizes ...api.Size) api.SizeAnswer {
		t.Helper()
		a, err := s.desk.Size(t.Context(), "alice", &api.SizeRequest{Sizes: sizes, By: by})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	all := sizesRequest("").Sizes
	for by, want := range map[string]int32{api.SizeAuto: 4, api.SizeCost: 1} {
		a := size(by, all...)
		if got := a.Sizes[a.Best].Nodes; got != want || a.Sizes[a.Best].Wait == nil {
			t.Errorf("by %s: %d nodes, wanted %d: %+v", by, got, want, a)
		}
	}
	s.Slurm.Limits.MaxTRES = limits.TRES{"node": 3}
	s.Refresh()
	// A waiting job is not ahead of itself, and gets no size that the cluster does not allow.
	s.Outlook.Asking, s.Outlook.Asked = []int64{}, map[int64]int{}
	options, of, err := s.desk.SizeOptions(t.Context(), "alice", &api.SizeRequest{Sizes: all, By: api.SizeAuto}, 77)
	if err != nil || !slices.Equal(of, []int{0, 1}) || options[1].Nodes != 2 || options[1].Run != float64(all[1].Limit) || !slices.Equal(s.Outlook.Asking, []int64{77, 77}) {
		t.Errorf("%+v, %v, %v, asked about %v", options, of, err, s.Outlook.Asking)
	}
	if len(s.Outlook.Asked) > 0 {
		t.Errorf("to forecast sizes took plans: %v", s.Outlook.Asked)
	}
	if a := size(api.SizeAuto, all...); a.Sizes[a.Best].Nodes != 2 || a.Sizes[2].Refused == "" || a.Sizes[2].Wait != nil {
		t.Errorf("%+v", a)
	}
	if _, err := s.desk.Size(t.Context(), "alice", &api.SizeRequest{Sizes: all[2:], By: api.SizeAuto}); !errors.Is(err, api.ErrInvalid) {
		t.Error(err)
	}
	// If nothing is known, the fastest size is as good as any.
	s.Outlook.Delay = 10 * 86400 * 365
	if a := size(api.SizeAuto, all[:2]...); a.Sizes[0].Wait != nil {
		t.Errorf("%+v", a)
	}
}
