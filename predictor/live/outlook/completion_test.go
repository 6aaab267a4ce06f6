package outlook

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/qbets"
)

// The end of a job is forecast from the waits and run times of the past, and is not where too
// little is known.
func TestProspect(t *testing.T) {
	o := New(Options{Confidence: .95, Now: func() int64 { return now }})
	r := varied(now, now+1)[0].Request
	q := &forecast.Question{Request: r, Now: now, Submit: now}
	var wait forecast.Answer
	if o.Wait(q, 0, &wait) || wait.Down != "" {
		t.Errorf("before a model serves, a wait is forecast: %q", wait.Down)
	}
	if _, ok := o.Prospect(q, completion.Circumstances{}, &wait.Wait); ok {
		t.Error("before a model serves, an end is forecast")
	}
	if _, ok := o.Rest(q, 60, completion.Circumstances{}); ok {
		t.Error("before a model serves, a running job is forecast")
	}
	m := o.NewModel(nil)
	if err := m.Learn(t.Context(), varied(now-60*day, now), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()

	if !o.Wait(q, 0, &wait) {
		t.Fatal("no forecast of the wait")
	}
	p, ok := o.Prospect(q, completion.Circumstances{}, &wait.Wait)
	if !ok {
		t.Fatal("no forecast of the end")
	}
	// Jobs wait for up to 900 s and end 1,800 s after their submission.
	if early, late := p.Prob(300), p.Prob(3*1800); early > .1 || late < .9 {
		t.Errorf("ends within 5 minutes with %.3f, within 90 with %.3f", early, late)
	}
	rest, ok := o.Rest(q, 600, completion.Circumstances{})
	if !ok || rest.Prob(1800) < .9 {
		t.Errorf("what is left of its run: %v", ok)
	}

	quantiles := map[string]float64{}
	names, answers := o.Ask(q)
	for i := range names {
		quantiles[names[i]] = answers[i].Wait.Quantile(.5)
	}
	if wait, end := quantiles["blend"], quantiles[completion.Name]; wait == 0 || end < wait+900 {
		t.Errorf("half the jobs start within %v s and end within %v s", wait, end)
	}

	q.Partition = "gpu"
	if ok := o.Wait(q, 0, &wait); ok || !strings.HasPrefix(wait.Down, "0 jobs are known to have started in partition gpu") {
		t.Errorf("an unknown kind: %v %q", ok, wait.Down)
	}
	q.Request = r
	m.Hear(expert.News{Outages: []qbets.Outage{{Partition: "main", From: now - 60, Reason: "partition main is down"}}})
	if ok := o.Wait(q, 0, &wait); ok || wait.Down != "partition main is down" {
		t.Errorf("during an outage: %v %q", ok, wait.Down)
	}
}
