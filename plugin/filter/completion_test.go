package filter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

const asked = `"spank:finish-by":"now+1hour","time":"30"`

func TestReadCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		options     string
		environment []string
		want        api.PlanRequest
	}{
		"deadline":                 {`{` + asked + `,"spank:prob":"95%","spank:on-miss":"cancel"}`, nil, api.PlanRequest{FinishBy: now + 3600, Prob: .95, OnMiss: "cancel"}},
		"checkpoints":              {`{` + asked + `,"spank:checkpoint-interval":"30m"}`, nil, api.PlanRequest{FinishBy: now + 3600, CheckpointInterval: 1800}},
		"risk":                     {`{"spank:risk":"0.8","time":"30"}`, nil, api.PlanRequest{Risk: .8}},
		"both":                     {`{` + asked + `,"spank:risk":"0.8"}`, []string{"VARQ_RISK=0.5"}, api.PlanRequest{FinishBy: now + 3600, Risk: .8}},
		"from the environment":     {`{` + asked + `}`, []string{"VARQ_RISK=0.5"}, api.PlanRequest{FinishBy: now + 3600, Risk: .5}},
		"a probability of her own": {`{` + asked + `,"spank:prob":"0.9"}`, []string{"VARQ_RISK=0.5"}, api.PlanRequest{FinishBy: now + 3600, Prob: .9}},
	} {
		s, err := Read([]byte(c.options), "sbatch", c.environment, now, time.UTC, ours)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := s.Request
		got.Job, got.Needs = c.want.Job, c.want.Needs
		if diff := cmp.Diff(c.want, got); diff != "" || s.Request.Job.Limit != 1800 {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReadCompletionRefuses(t *testing.T) {
	for options, want := range map[string]string{
		`{` + asked + `,"spank:begin-by":"now+2hours"}`:                     "--finish-by does not go together with --begin-by: ",
		`{"spank:begin-by":"now+2hours","spank:risk":"0.9"}`:                "--risk does not go together with --begin-by: ",
		`{` + asked + `,"spank:begin-after":"now"}`:                         "--begin-after does not go together with --finish-by: the job is submitted at once",
		`{` + asked + `,"spank:best-effort":"set"}`:                         "--best-effort does not go together with --finish-by: ",
		`{` + asked + `,"spank:max-cost":"1"}`:                              "--max-cost does not go together with --finish-by: ",
		`{` + asked + `,"begin":"now"}`:                                     "--begin does not go together with --finish-by: the job is eligible at once",
		`{` + asked + `,"spank:prob":"2"}`:                                  "--prob: ",
		`{"spank:risk":"often"}`:                                            "--risk: ",
		`{` + asked + `,"spank:checkpoint-interval":"0"}`:                   "--checkpoint-interval: \"0\" is not between a second and a year",
		`{"spank:begin-by":"now+2hours","spank:checkpoint-interval":"30m"}`: "--checkpoint-interval needs --finish-by: ",
		`{` + asked + `,"spank:on-miss":"later"}`:                           "--on-miss: ",
		`{"spank:finish-by":"yesterday"}`:                                   "--finish-by: ",
		`{"spank:finish-by":"2020-01-01"}`:                                  "--finish-by: 2020-01-01T00:00:00 is in the past",
	} {
		if _, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", options, err, want)
		}
	}
	if _, err := Read([]byte(`{`+asked+`}`), "sbatch", []string{"VARQ_RISK=high"}, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), "VARQ_RISK in the environment: ") {
		t.Errorf("got error %v", err)
	}
}

// The job of a promise about its end is submitted as it is.
func TestWriteCompletion(t *testing.T) {
	plan := &api.Plan{
		ID: "abcdefghijkl", BeginTime: now, TimeLimit: 1800, FinishBy: now + 3600, WorkLimit: 1800, Prob: .9, Estimate: .93, TimeOut: .1,
		Work: api.Cost{NodeSeconds: 7200, BillingSeconds: 7200}, Comment: "varq:abcdefghijkl",
	}
	offers := []api.Offer{{Kind: api.OfferEnd, FinishBy: now + 7200, Prob: .95}}
	others := []api.Offer{
		{Kind: api.OfferTime, FinishBy: now + 3600, Prob: .9, Limit: 900},
		{Kind: api.OfferSaves, FinishBy: now + 3600, Prob: .9, CheckpointInterval: 600},
	}
	for name, c := range map[string]struct {
		s      Submission
		answer api.PlanAnswer
		want   []string
	}{
		"promise": {Submission{now: now}, api.PlanAnswer{Plan: plan, Offers: offers}, []string{
			"ticket 0:1795266000:0:abcdefghijkl", "plan abcdefghijkl", "time 30", "comment varq:abcdefghijkl",
			"say promised: finished by 2026-11-21T13:00:00 with probability 0.90 (estimate 0.93)",
			"say time limit 00:30:00; the work costs 2.00 node-hours, 2.00 billing-hours, and nothing more",
			"say jobs like it are stopped at their time limit with probability 0.10, and then nothing is promised: --time gives it more",
			"end",
		}},
		"quote": {Submission{now: now, Quote: true}, api.PlanAnswer{Plan: plan, Offers: offers}, []string{
			"ticket 0:1795266000:0:abcdefghijkl",
			"say quoted, not promised: finished by 2026-11-21T13:00:00 with probability 0.90 (estimate 0.93)",
			"say time limit 00:30:00; the work costs 2.00 node-hours, 2.00 billing-hours, and nothing more",
			"say jobs like it are stopped at their time limit with probability 0.10, and then nothing is promised: --time gives it more",
			"say possible: --finish-by=2026-11-21T14:00:00 --prob=0.95",
			"end",
		}},
		"later": {Submission{now: now - 3600}, api.PlanAnswer{Plan: plan}, []string{
			"ticket 0:1795266000:0:abcdefghijkl", "plan abcdefghijkl", "begin uts1795262400", "time 30", "comment varq:abcdefghijkl",
			"say promised: finished by 2026-11-21T13:00:00 with probability 0.90 (estimate 0.93)",
			"say time limit 00:30:00; the work costs 2.00 node-hours, 2.00 billing-hours, and nothing more",
			"say eligible from 2026-11-21T12:00:00: until then it is in the way of promises made before",
			"say jobs like it are stopped at their time limit with probability 0.10, and then nothing is promised: --time gives it more",
			"end",
		}},
		"refusal": {Submission{}, api.PlanAnswer{Refusal: &api.Refusal{Reason: "too early", Offers: offers, KeptUntil: now + 60}}, []string{
			"refuse no promise: too early", "refuse nothing was submitted. Add one of these to the same command within a minute:", "refuse possible: --finish-by=2026-11-21T14:00:00 --prob=0.95",
			"refuse The room of the offers is kept for you until 2026-11-21T12:01:00.", "end",
		}},
		"other ways": {Submission{now: now, Request: api.PlanRequest{FinishBy: now + 3600}}, api.PlanAnswer{Refusal: &api.Refusal{Reason: "too early", Offers: others}}, []string{
			"refuse no promise: too early", "refuse nothing was submitted (asked for: finished by 2026-11-21T13:00:00, in 01:00:00). Add one of these to the same command within a minute:",
			"refuse possible: --time=00:15:00   (probability 0.90)",
			"refuse possible: --checkpoint-interval=00:10:00   (probability 0.90)", "end",
		}},
	} {
		c.s.zone = time.UTC
		var text strings.Builder
		if err := c.s.Write(&text, c.answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(c.want, "\n")+"\n", text.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
