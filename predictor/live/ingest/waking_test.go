package ingest

import (
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// TestWaking: accounting takes a job whose nodes are being powered up for one that runs. Its wait
// is over, and learnt, once the queue shows that it has started.
func TestWaking(t *testing.T) {
	s := &source{jobs: past(now-day, now-2*3600)}
	g := start(t, filepath.Join(t.TempDir(), "history.db"), s)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	base := learnt(g)
	running := past(now-3600, now-3599)[0]
	running.End, running.State = 0, workload.Running
	waking := slurm.QueueEntry{Job: running, Waking: true}
	waking.Start, waking.State = 0, workload.Pending
	if err := g.ObserveQueue(t.Context(), []slurm.QueueEntry{waking}, now); err != nil {
		t.Fatal(err)
	}
	s.jobs = append(s.jobs, running)
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if learnt(g) != base {
		t.Error("the wait is over while nodes are powered up")
	}
	up := running
	up.Start += 300
	if err := g.ObserveQueue(t.Context(), []slurm.QueueEntry{{Job: up}}, now+1); err != nil {
		t.Fatal(err)
	}
	s.jobs[len(s.jobs)-1] = up
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, newest := g.StartsObserved(); learnt(g) != base+1 || newest != up.Start {
		t.Errorf("learnt %d starts, the newest of %d", learnt(g)-base, newest)
	}
}
