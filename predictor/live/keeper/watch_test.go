package keeper

import (
	"fmt"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// Of many jobs, some are chosen, and each gets its turn.
func TestSomeOf(t *testing.T) {
	due := make([]duty, 37)
	for i := range due {
		due[i].e = &ledger.Entry{Reservation: api.Reservation{Job: int64(i + 1)}}
	}
	asked := map[int64]bool{}
	for now := int64(1_800_000_000); len(asked) < len(due); now += 5 {
		some := someOf(due, goneOneByOne, now)
		if len(some) != goneOneByOne {
			t.Fatalf("at %d, %d reservations", now, len(some))
		}
		for _, d := range some {
			asked[d.e.Job] = true
		}
	}
	if some := someOf(due[:3], goneOneByOne, 1_800_000_000); len(some) != 3 {
		t.Errorf("of 3, %d", len(some))
	}
}

// goneSite is a site where n promised jobs have been cancelled.
func goneSite(t *testing.T, n int) *site {
	s := newSite(t)
	ctx := t.Context()
	for i := range n {
		p := api.Plan{ID: fmt.Sprintf("p%05d", i), BeginTime: epoch + 3600, BeginBy: epoch + 7200}
		if err := s.Ledger.Promise(ctx, &api.Reservation{Plan: p, User: "alice", Promised: epoch}); err != nil {
			t.Fatal(err)
		}
		job := int64(i + 1)
		if err := s.Ledger.Bind(ctx, p.ID, "alice", job, epoch, epoch); err != nil {
			t.Fatal(err)
		}
		run := workload.Job{ID: job, Request: workload.Request{User: "alice"}, Submit: epoch, Eligible: epoch + 3600, End: epoch + 10, State: workload.Cancelled}
		s.slurm.accounted[job] = []workload.Job{run}
	}
	s.clock = epoch + 20
	return s
}

func (s *site) stillOpen() int {
	s.t.Helper()
	entries, err := s.Ledger.Select(s.t.Context(), ledger.Query{Open: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}

// Many jobs that are cancelled at once are settled at the next two looks, with one request each.
func TestManyGone(t *testing.T) {
	s := goneSite(t, goneAtOnce+100)
	for _, left := range []int{100, 0} {
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		if n := s.stillOpen(); n != left {
			t.Errorf("%d open, want %d", n, left)
		}
		s.clock += 5
	}
	if !slices.Equal(s.slurm.lists, []int{goneAtOnce, 100}) {
		t.Errorf("asked for lists of %v jobs", s.slurm.lists)
	}
}

// Between two readings of the whole queue, Slurm is asked for a part of many jobs only, for
// each in its turn.
func TestManyBound(t *testing.T) {
	s := goneSite(t, 2*boundAtOnce+10)
	if err := s.watchBound(); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{boundAtOnce + 10, 10, 0} {
		if n := s.stillOpen(); n != left {
			t.Errorf("%d open, want %d", n, left)
		}
		if err := s.watchBound(); err != nil {
			t.Fatal(err)
		}
	}
}

// Each job gets its turn.
func TestNextBound(t *testing.T) {
	m, entries := newMemory(), make([]ledger.Entry, 25)
	for i := range entries {
		entries[i].Job = int64(100 - i)
	}
	asked := map[int64]int{}
	for range 5 {
		for _, e := range m.nextBound(entries, 10) {
			asked[e.Job]++
		}
	}
	for i := range entries {
		if asked[entries[i].Job] != 2 {
			t.Errorf("of 25 jobs, 10 at a time, job %d is asked for %d times in 5", entries[i].Job, asked[entries[i].Job])
		}
	}
}

// One job that accounting cannot tell of does not keep the others from being settled: they are asked
// for one by one for a while, which finds it, and then again together.
func TestManyGoneButOne(t *testing.T) {
	s := goneSite(t, 40)
	s.slurm.accountingDown[7] = true
	for range 20 {
		if err := s.watch(); err != nil && s.stillOpen() == 0 {
			t.Fatal(err)
		}
		s.clock += 5
	}
	if n := s.stillOpen(); n != 1 {
		t.Errorf("%d open", n)
	}
	s.slurm.accountingDown[7] = false
	s.clock += retryAfter
	if err := s.watch(); err != nil || s.stillOpen() != 0 {
		t.Errorf("%v, %d open", err, s.stillOpen())
	}
}
