package ingest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// OnStarts is told of each start once, whether the queue or accounting has shown it first, and
// whether or not varqd ran then.
func TestEachStartIsToldOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	old := job(1, -2*day+500, -2*day+600, 0) // and it has not ended
	a := accounts{old, job(2, -900, -600, -300)}
	var told []int64
	open := func() *fixture {
		t.Helper()
		g := start(t, path, &a)
		g.OnStarts = func(jobs []workload.Job) {
			for _, j := range jobs {
				told = append(told, j.ID)
			}
		}
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		return g
	}
	want := func(what string, ids ...int64) {
		t.Helper()
		if !slices.Equal(told, ids) {
			t.Errorf("%s: told of %v, want %v", what, told, ids)
		}
		told = nil
	}
	catchUp := func(g *fixture) {
		t.Helper()
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	g := open()
	want("the past that is read first")

	g.clock += 60
	for range 2 {
		if err := g.ObserveQueue(t.Context(), []slurm.QueueEntry{{Job: job(3, 0, 30, 0)}}, g.clock); err != nil {
			t.Fatal(err)
		}
	}
	want("the queue", 3)

	a = append(a, job(3, 0, 30, 50), job(4, 0, 40, 50))
	catchUp(g)
	catchUp(g)
	want("accounting", 4)

	a = append(a, job(5, 0, 55, 0))
	open()
	want("while varqd did not run", 5)
	g = open()
	want("twice")

	g.clock += 1000
	catchUp(g) // forgets job 1
	a[0].End, a[0].State = g.clock, workload.Completed
	catchUp(g)
	want("an old job that has ended")
}

// While the cache is in memory nothing is told: a later varqd, which finds the starts in
// accounting, would tell it again.
func TestNoStartIsToldFromMemory(t *testing.T) {
	a := accounts{}
	g := start(t, filepath.Join(t.TempDir(), "nowhere", "history.db"), &a)
	g.OnStarts = func(jobs []workload.Job) { t.Errorf("told of %v", jobs) }
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = append(a, job(4, 0, 40, 50))
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}
