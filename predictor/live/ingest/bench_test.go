package ingest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
)

// BenchmarkObserveQueue measures a snapshot of a queue of 5,000 jobs that wait, in which nothing has changed, or every priority.
func BenchmarkObserveQueue(b *testing.B) {
	const waiting = 5000
	for _, changes := range []bool{false, true} {
		b.Run(fmt.Sprintf("priorities-change=%v", changes), func(b *testing.B) {
			a := accounts(past(now-day, now-2*3600))
			g := start(b, filepath.Join(b.TempDir(), "history.db"), &a)
			if err := g.Load(b.Context()); err != nil {
				b.Fatal(err)
			}
			queue := make([]slurm.QueueEntry, waiting)
			for i := range queue {
				queue[i].Job = job(int64(1+i), 5, 0, 0)
				queue[i].User = fmt.Sprint("user", i%100)
				queue[i].Priority = 1000
			}
			at := now + int64(20)
			look := func() {
				at++
				if err := g.ObserveQueue(b.Context(), queue, at); err != nil {
					b.Fatal(err)
				}
			}
			look()
			for b.Loop() {
				if changes {
					for i := range queue {
						queue[i].Priority++
					}
				}
				look()
			}
		})
	}
}
