package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Every method of an Outlook may be called while an Ingest observes the queue, reads
// accounting and makes new models.
func TestAnswersWhileLearning(t *testing.T) {
	a := accounts(past(now-2*day+3600, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	r := past(now, now+1)[0].Request
	for _, ask := range []func(){
		func() { g.Predict(r, 0) },
		func() { g.Queue() },
		func() { g.StartsObserved() },
		func() { g.Promise(7, 0, r, now+1000, now+2000, true) },
		func() { g.Ask(&forecast.Question{Request: r, Now: now, Submit: now}) },
		func() {
			for range g.Jobs {
				g.Room(workload.Place{Partition: "main"}, 0, now, nil)
			}
		},
		func() {
			var wait forecast.Answer
			q := &forecast.Question{Request: r, Now: now, Submit: now}
			g.Wait(q, 0, &wait)
			g.Prospect(q, completion.Circumstances{}, &wait.Wait)
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
	var following sync.WaitGroup
	following.Go(func() {
		for i := range int64(10) {
			if err := g.ObserveQueue(ctx, entries(job(i, 20*i, 20*i+1, 0), job(i+1, 20*i+2, 0, 0)), now+20*(i+1)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		g.mu.Lock()
		g.gap = true
		g.mu.Unlock()
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	following.Wait()
	done()
	asking.Wait()
}

// A thousand jobs begin to wait between two snapshots, behind a thousand others, on a
// cluster on which five hundred run.
func BenchmarkBurst(b *testing.B) {
	a := accounts(past(now-day, now-2*3600))
	o := outlook.New(outlook.Options{Confidence: .95})
	for b.Loop() {
		b.StopTimer()
		m := &tracker{Model: o.NewModel(nil)}
		m.observe(a)
		m.at = now
		var queue []slurm.QueueEntry
		for i := range int64(1500) {
			j := job(i, 1+i%10, 0, 0)
			j.User, j.CPUs, j.Limit = fmt.Sprint("user", i%50), int32(1+i%64), 600*(1+i%20)
			if i < 500 {
				j.Start, j.State = j.Eligible, workload.Running
			}
			queue = append(queue, slurm.QueueEntry{Job: j})
		}
		started := map[run]bool{}
		for i := range queue[:500] {
			started[runOf(&queue[i].Job)] = true
		}
		m.observeSnapshot(&snapshot{slices.Clone(queue), now + 20}, started)
		for i := range int64(1000) {
			j := job(2000+i, 21+i%10, 0, 0)
			j.User, j.CPUs, j.Limit = fmt.Sprint("user", i%50), int32(1+i%64), 600*(1+i%20)
			queue = append(queue, slurm.QueueEntry{Job: j})
		}
		b.StartTimer()
		m.observeSnapshot(&snapshot{queue, now + 40}, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/1000, "ms/job")
}
