package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

func TestParseReservations(t *testing.T) {
	for text, want := range map[string]Reservations{
		"none":     {},
		"hard=10%": {Hard: &Hard{Share: .1, Ahead: 7200, Protected: 1}},
		"hard=.2,ahead=1:00:00,protected=50%,restart":       {Hard: &Hard{Share: .2, Ahead: 3600, Protected: .5, Restart: &sched.Restart{A: .8, B: .8 - 1}}},
		"hard=1,restart=0.5":                                {Hard: &Hard{Share: 1, Ahead: 7200, Protected: 1, Restart: &sched.Restart{A: .5, B: -.5}}},
		"varq=10%,prob=.95,every=6h":                        {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Replan: 240, Method: Blend, MaxHold: 4, MaxCost: 1}},
		"varq=95%,prob=75%,every=30m,replan=0s,best-effort": {VARQ: &VARQ{Share: .95, Prob: .75, Every: 1800, BestEffort: true, Method: Blend, MaxHold: 4, MaxCost: 1}},
		"varq=10%,take-offers":                              {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Replan: 240, Method: Blend, MaxHold: 4, MaxCost: 1, TakeOffers: true}},
		"varq=10%,forecaster=qbets":                         {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Replan: 240, MaxCost: 1}},
		"varq=10%,replan=0,forecaster=history":              {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Method: History, MaxCost: 1}},
		"varq=10%,max-hold=0,max-cost=none":                 {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Replan: 240, Method: Blend}},
		"varq=10%,max-hold=2.5,max-cost=1.5x":               {VARQ: &VARQ{Share: .1, Prob: .95, Every: 21600, Replan: 240, Method: Blend, MaxHold: 2.5, MaxCost: 1.5}},
	} {
		got, err := ParseReservations(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}

func TestParseReservationsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "neither none",
		"soft=10%":                        `"soft=10%" is neither`,
		"hard":                            "hard: ",
		"hard=110%":                       "hard: \"110%\" is not a share",
		"varq=NaN":                        "varq: ",
		"varq=10%,prob=1":                 "prob: ",
		"varq=10%,take-offers=yes":        "take-offers: takes no value",
		"varq=10%,take-offers,arrays=all": "take-offers: no offers are made to arrays",
		"varq=10%,every=1s":               "every: ",
		"varq=10%,every=soon":             "every: \"soon\" is not a duration",
		"varq=10%,ahead=2h":               "ahead: VARQ's reservations have only",
		"hard=10%,every=2h":               "every: hard reservations have only",
		"hard=10%,ahead=400d":             "ahead: ",
		"hard=10%,ahead=10000h":           "ahead: \"10000h\" is not between",
		"hard=10%,ahead=1h,ahead=2h":      "ahead: given twice",
		"varq=10%,max-hold=-1":            `max-hold: "-1" is not a number of time limits`,
		"varq=10%,max-hold=nan":           "max-hold: ",
		"varq=10%,max-cost=2":             `max-cost: "2" is neither none nor a multiple`,
		"varq=10%,max-cost=.5x":           "max-cost: ",
		"varq=10%,max-cost=nanx":          "max-cost: ",
		"varq=10%,max-cost=1001x":         "max-cost: ",
		"varq=10%,best-effort=certainly":  "best-effort: takes no value",
		"varq=10%,forecaster=crystal":     `forecaster: "crystal" is none of qbets, history and blend`,
		"hard=10%,":                       ": hard reservations have only",
	} {
		if _, err := ParseReservations(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
}

func FuzzParseReservations(f *testing.F) {
	f.Add("hard=10%,ahead=2h,protected=.5,restart=.7")
	f.Add("varq=10%,prob=.95,every=6h,replan=90s,max-hold=0,max-cost=2x,best-effort,forecaster=history")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReservations(text)
		if err != nil {
			return
		}
		again, err := ParseReservations(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q is %q, and that %q: %v", text, r, again, err)
		}
	})
}
