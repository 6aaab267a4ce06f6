package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// runs returns the results of a kind of reservations with the seeds 1 to n.
func runs(t *testing.T, text string, n int) []*Result {
	t.Helper()
	reservations, err := ParseReservations(text)
	if err != nil {
		t.Fatal(err)
	}
	jobs := busy(3000)
	var all []*Result
	for seed := range uint64(n) {
		all = append(all, simulate(t, Scenario{Procs: 64, Backfill: sched.EASY, Seed: seed + 1, Reservations: reservations}, jobs))
	}
	return all
}

// TestPoolOfOneRunTwice: two equal runs have twice the counts of one, and the same shares.
func TestPoolOfOneRunTwice(t *testing.T) {
	for _, text := range []string{"none", "hard=20%", "varq=20%,prob=.5,forecaster=qbets"} {
		one := runs(t, text, 1)[0]
		if got := Pool([]*Result{one}, true); got != one {
			t.Errorf("%s: one run is pooled", text)
		}
		got := Pool([]*Result{one, one}, true)
		want := *one
		want.Jobs, want.Stops, want.All.Jobs, want.Others.Jobs = 2*one.Jobs, 2*one.Stops, 2*one.All.Jobs, 2*one.Others.Jobs
		want.Weeks = nil
		for _, w := range one.Weeks {
			want.Weeks = append(want.Weeks, Week{w.Week, 2 * w.Others, 2 * w.Wait, 2 * w.Promised, 2 * w.Kept, 0, 0})
		}
		if h := one.Hard; h != nil {
			want.Hard = &HardResult{Jobs: 2 * h.Jobs, Exact: 2 * h.Exact, Offset: h.Offset, Median: h.Median}
		}
		if v := one.VARQ; v != nil {
			twice := *v
			twice.Asked, twice.Promised, twice.Kept, twice.Moves = 2*v.Asked, 2*v.Promised, 2*v.Kept, nil
			all := 0
			for _, n := range v.Moves {
				twice.Moves = append(twice.Moves, 2*n)
				all += n
			}
			if all != v.Promised {
				t.Errorf("%s: moves of %d promises, of %d", text, all, v.Promised)
			}
			twice.Work, twice.Held, twice.Booked = 2*v.Work, 2*v.Held, 2*v.Booked
			want.VARQ = &twice
		}
		if diff := cmp.Diff(&want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestPoolCountsWeeks: runs with the same jobs have the same weeks, and others have weeks of their
// own.
func TestPoolCountsWeeks(t *testing.T) {
	three := runs(t, "varq=20%,prob=.5,forecaster=qbets", 3)
	same, apart := Pool(three, true), Pool(three, false)
	sum := 0
	for _, r := range three {
		sum += len(r.Weeks)
	}
	if len(same.Weeks) >= sum || len(apart.Weeks) != sum {
		t.Errorf("%d and %d weeks, of %d", len(same.Weeks), len(apart.Weeks), sum)
	}
	for _, r := range []*Result{same, apart} {
		promised, kept := 0, 0
		for _, run := range three {
			promised, kept = promised+run.VARQ.Promised, kept+run.VARQ.Kept
		}
		if r.VARQ.Promised != promised || r.VARQ.Kept != kept {
			t.Errorf("%+v; %d promises, of which %d were kept", r.VARQ, promised, kept)
		}
	}
}
