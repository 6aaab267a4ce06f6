package look

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// entry returns a job of alice, which is submitted, and eligible, at the time of its number.
func entry(id int64, change func(*slurm.QueueEntry)) slurm.QueueEntry {
	j := slurm.QueueEntry{Job: workload.Job{ID: id, Submit: id, Eligible: id, Request: workload.Request{User: "alice"}}}
	if change != nil {
		change(&j)
	}
	return j
}

func names(comment string) func(*slurm.QueueEntry) {
	return func(j *slurm.QueueEntry) { j.Comment = comment }
}

// Of the jobs that name a plan, the user's own counts that was submitted first.
func TestClaimant(t *testing.T) {
	const plan = "aaaaaaaaaaaa"
	l := New([]slurm.QueueEntry{
		entry(1, func(j *slurm.QueueEntry) { j.User, j.Comment = "bob", "varq:"+plan }),
		entry(3, names("varq:"+plan)),
		entry(2, names("mine varq:"+plan)),
		entry(4, nil),
	}, 10)
	if j := l.Plans.Claimant(plan, "alice"); j == nil || j.ID != 2 {
		t.Errorf("%+v", j)
	}
	if j := l.Plans.Claimant(plan, "carol"); j != nil {
		t.Errorf("%+v", j)
	}
	if len(l.ByID) != 4 || l.ByID[4] != &l.Jobs[3] || len(l.Plans) != 1 || len(l.Sizes) != 0 {
		t.Errorf("%d jobs, %d plans, %d sizes", len(l.ByID), len(l.Plans), len(l.Sizes))
	}
}

// A job begins to wait once, when it is eligible and nothing else keeps it from starting, and not
// before the first look.
func TestWaits(t *testing.T) {
	var w Waits
	ids := func(at int64, jobs ...slurm.QueueEntry) (ids []int64) {
		for _, j := range w.Begun(New(jobs, at)) {
			ids = append(ids, j.ID)
		}
		return ids
	}
	held := func(j *slurm.QueueEntry) { j.Held = true }
	for _, c := range []struct {
		at   int64
		jobs []slurm.QueueEntry
		want []int64
	}{
		{10, []slurm.QueueEntry{entry(1, nil)}, nil},
		{20, []slurm.QueueEntry{entry(1, nil), entry(12, nil), entry(15, held), entry(25, nil)}, []int64{12}},
		// 15 has waited longer than since the last look
		{30, []slurm.QueueEntry{entry(1, nil), entry(12, nil), entry(15, nil), entry(25, nil)}, []int64{25}},
		// 12 was requeued
		{40, []slurm.QueueEntry{entry(12, func(j *slurm.QueueEntry) { j.Eligible = 35 })}, []int64{12}},
	} {
		if got := ids(c.at, c.jobs...); !slices.Equal(got, c.want) {
			t.Errorf("at %d: %v, want %v", c.at, got, c.want)
		}
	}
}
