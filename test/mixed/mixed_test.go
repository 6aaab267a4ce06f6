package mixed

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// TestCampaign is a short campaign, in which few promises are made: varqd has hardly learnt
// anything. What is promised is judged alike by varq and by the jobs themselves.
func TestCampaign(t *testing.T) {
	thorough.Only(t)
	cluster.NeedSlurm(t)
	o := Usual()
	o.Warm, o.Duration, o.Pace, o.Version, o.Progress = 2*time.Minute, time.Minute, 2*time.Second, cluster.Chosen(), t.Output()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	if len(r.Wrong) > 0 {
		t.Errorf("%d promises are judged in two ways", len(r.Wrong))
	}
	if p, w := r.Kinds[all], r.Waits[all]; p == nil || w == nil || p.Granted() == 0 || w.Jobs == 0 {
		t.Error("not much of a campaign")
	}
}

func TestReport(t *testing.T) {
	some, none := 10.0, 0.0
	r := newReport()
	gpu := &kind{name: "typed GPU"}
	for _, wait := range []int64{0, 10, 11} {
		r.forecast(&job{kind: gpu, Forecast: map[float64]*float64{.5: &some, .95: nil}}, wait)
	}
	r.forecast(&job{kind: gpu, Forecast: map[float64]*float64{.5: &none, .95: &some}}, 0)
	r.forecast(&job{kind: gpu}, 0)
	if w := r.Waits[all]; w.Jobs != 4 || w.Unknown != 1 || w.Within[.5] != 3 || w.Below[.5] != 1 || w.Within[.95] != 4 {
		t.Errorf("%+v", w)
	}
	r.refused(&job{kind: gpu, Mode: strict, Prob: .9, Said: "varq: no promise: until 17:00 there is no room\nvarq: ..."})
	r.promised(&job{kind: gpu, Mode: strict, Prob: .9, Name: "a", InTime: true}, &api.Reservation{State: api.StateKept})
	r.promised(&job{kind: gpu, Mode: finish, Prob: .5, Name: "b", Late: true}, &api.Reservation{State: api.StateMissed})
	r.promised(&job{kind: gpu, Mode: finish, Prob: .5, Name: "c", InTime: true}, nil)
	byASecond := &job{kind: gpu, Mode: finish, Prob: .5, Name: "d"}
	byASecond.Patience = 20
	r.promised(byASecond, &api.Reservation{State: api.StateMissed})
	if p := r.Kinds["typed GPU"]; p.Asked != 5 || p.Refused != 1 || p.Kept != 2 || p.Missed != 2 || p.Prob != 2.4 {
		t.Errorf("%+v", p)
	}
	if p := r.Modes[taken]; p.Asked != 1 || p.Missed != 1 {
		t.Errorf("%+v", p)
	}
	if len(r.Missed) != 2 || len(r.Wrong) != 1 || r.Reasons["typed GPU: varq: no promise: until N there is no room"] != 1 {
		t.Errorf("%+v", r)
	}
	var text strings.Builder
	if err := r.Write(&text); err != nil || !strings.Contains(text.String(), "0.500") {
		t.Errorf("%v: %s", err, text.String())
	}
}

func TestOffer(t *testing.T) {
	refused := &job{kind: &kinds[0], Name: "a", Mode: strict, Prob: .9, Run: 100, Deadline: 1_700_000_000 - 60, Args: []string{"-N1"}}
	for _, c := range []struct {
		options  string
		mode     string
		prob     float64
		deadline int64
	}{
		{"--prob=0.68", strict, .68, refused.Deadline},
		{"--best-effort --prob=0.7", bestEffort, .7, refused.Deadline},
		{"--begin-by=uts1700000000", strict, .9, 1_700_000_000},
		{"--time=2", strict, .9, refused.Deadline},
	} {
		taken := refused.with(strings.Fields(c.options))
		if taken == nil || taken.Mode != c.mode || taken.Prob != c.prob || taken.Deadline != c.deadline || len(taken.Args) < 2 || len(refused.Args) != 1 {
			t.Errorf("%s: %+v", c.options, taken)
		}
	}
	for _, options := range []string{"--time=1", "--tasks=2", "--begin-by=never", "--begin-by=uts1700003600"} {
		if taken := refused.with([]string{options}); taken != nil {
			t.Errorf("%s: %+v", options, taken)
		}
	}
	r := newReport()
	r.offer(&job{kind: &kinds[0], Patience: 20, Kept: true, ID: 7})
	r.offer(&job{kind: &kinds[0], Patience: 20, Kept: true})
	r.offer(&job{kind: &kinds[0], Patience: 20, ID: 8})
	if *r.Offers[20] != (Offers{Taken: 2, Held: 1}) || *r.Offers[0] != (Offers{Taken: 1, Held: 1}) || len(r.Broken) != 1 {
		t.Errorf("%+v", r)
	}
}
