package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// certain is a site's own forecaster for which everybody starts at once.
type certain struct {
	diary
	prepared int
}

func (*certain) Name() string { return "certain" }
func (*certain) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	for i := range delay.Points {
		a.Wait[i] = 1
	}
	return true
}
func (c *certain) Prepare(q []forecast.Question) { c.prepared = len(q) }

func TestOwnForecastersTakePart(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	var own certain
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &own)
	r := past(now, now+1)[0].Request
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer, ok := g.Predict(r)
	if !ok || !slices.ContainsFunc(answer.Members, func(m forecast.Member) bool { return m.Name == "certain" && m.Share > 0 }) {
		t.Errorf("%+v, %v", answer.Evidence, ok)
	}
	var asked []string
	g.Ask(&forecast.Question{Request: r, Now: now, Submit: now}, func(name string, _ *forecast.Answer) { asked = append(asked, name) })
	for _, name := range []string{"blend", "qbets", "certain"} {
		if !slices.Contains(asked, name) {
			t.Errorf("%s is not among those that were asked: %v", name, asked)
		}
	}
	c := []workload.Candidate{{Submit: now, Limit: 600, Budget: 600}, {Submit: now + 300, Limit: 600, Budget: 300}}
	g.Forecast(r, now, c, make([]workload.Estimate, 2))
	if own.prepared != len(c) {
		t.Errorf("prepared for %d candidates of %d", own.prepared, len(c))
	}
}

// What has become of promises outlives a new start, and living through the past anew.
func TestOddsOutliveThePast(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	g.OldOdds = []forecast.Odds{{Missed: 1, Said: 2}, {Missed: 3, Said: 4}, {Missed: 5, Said: 6}, {Missed: 7, Said: 8}}
	if g.Odds() != nil {
		t.Error("something is known before the past is")
	}
	for range 2 {
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if odds := g.Odds(); !slices.Equal(odds, g.OldOdds) {
			t.Errorf("%v, want %v", odds, g.OldOdds)
		}
	}
}

// Plans are made, predictions told and forecasts scored while the queue is followed,
// accounting read and the past lived through anew.
func TestForecastsWhileLearning(t *testing.T) {
	a := accounts(past(now-2*day+3600, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	r := past(now, now+1)[0].Request
	for _, ask := range []func(){
		func() { g.Predict(r) },
		func() { g.Queue() },
		func() { g.Learnt() },
		func() { g.Promise(7, r, now+1000, now+2000, true) },
		func() {
			g.Ask(&forecast.Question{Request: r, Now: now, Submit: now}, func(string, *forecast.Answer) {})
		},
		func() {
			est := make([]workload.Estimate, 2)
			g.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: 600, Budget: 600}, {Submit: now + 3600, Limit: 600, Budget: 600}}, est)
			if est[0].Sample == 0 {
				t.Error("nothing is known for a moment")
			}
		},
	} {
		asking.Go(func() {
			for ctx.Err() == nil {
				ask()
			}
		})
	}
	var looking sync.WaitGroup
	looking.Go(func() {
		for i := range int64(10) {
			if err := g.Watched(ctx, entries(job(i, 20*i, 20*i+1, 0), job(i+1, 20*i+2, 0, 0)), now+20*(i+1)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		g.storing.Lock()
		g.missed = true
		g.storing.Unlock()
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	looking.Wait()
	done()
	asking.Wait()
}

// A thousand jobs begin to wait between two looks, behind a thousand others, on a
// cluster on which five hundred run.
func BenchmarkBurst(b *testing.B) {
	a := accounts(past(now-day, now-2*3600))
	g := New(Options{})
	for b.Loop() {
		b.StopTimer()
		p := newPresent(&g.site, .95, nil)
		p.tell(a)
		p.last = now
		var queue []slurm.QueueEntry
		for i := range int64(1500) {
			j := job(i, 1+i%10, 0, 0)
			j.User, j.CPUs, j.Limit = fmt.Sprint("user", i%50), int32(1+i%64), 600*(1+i%20)
			if i < 500 {
				j.Start, j.State = j.Eligible, workload.Running
			}
			queue = append(queue, slurm.QueueEntry{Job: j})
		}
		fresh := map[run]bool{}
		for i := range queue[:500] {
			fresh[runOf(&queue[i].Job)] = true
		}
		p.looked(&look{slices.Clone(queue), now + 20}, fresh)
		for i := range int64(1000) {
			j := job(2000+i, 21+i%10, 0, 0)
			j.User, j.CPUs, j.Limit = fmt.Sprint("user", i%50), int32(1+i%64), 600*(1+i%20)
			queue = append(queue, slurm.QueueEntry{Job: j})
		}
		b.StartTimer()
		p.looked(&look{queue, now + 40}, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/1000, "ms/job")
}
