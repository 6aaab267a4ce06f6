package alone

import (
	"context"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

// BenchmarkNextProcess begins a process that finds 52,605 past jobs read, until it can answer.
func BenchmarkNextProcess(b *testing.B) {
	l := newLab(b)
	l.write(52_605, 40)
	for b.Loop() {
		f := l.forecaster()
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan error)
		go func() { done <- f.advance(ctx) }()
		for f.ingest.Ready() != nil {
			time.Sleep(time.Millisecond)
		}
		b.StopTimer()
		stop()
		<-done
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// write writes a past of n jobs in so many days into alice's cache.
func (l *lab) write(n, days int) {
	l.t.Helper()
	cache, _, err := history.Open(pastOf(l.folder))
	if err != nil {
		l.t.Fatal(err)
	}
	var past []workload.Job
	for j, err := range synthetic.History(synthetic.Config{Seed: 1, Nodes: 64, CPUs: 32, ShortNodes: 8, Jobs: n, Days: days, End: epoch, Utilisation: .85}) {
		if err != nil {
			l.t.Fatal(err)
		}
		if len(past) < n {
			past = append(past, j)
		}
	}
	if _, err := cache.Add(l.t.Context(), past, &history.Coverage{Since: epoch - int64(days)*day, Until: epoch, Complete: true}); err != nil {
		l.t.Fatal(err)
	}
	if err := cache.Close(); err != nil {
		l.t.Fatal(err)
	}
}
