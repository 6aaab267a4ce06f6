package scenario

import (
	"testing"

	"github.com/varq-project/varq/predictor/sched"
)

// During an outage no job starts, whatever the policy; those that run end in their
// time, and all others run afterwards.
func TestOutage(t *testing.T) {
	jobs := busy(1000)
	const after, lasts = 20_000, 6 * 3600
	from := jobs[0].Submit + after
	for order, backfill := range policies {
		s := Scenario{Procs: 64, Order: order, Backfill: backfill, Outage: Outage{After: after, Lasts: lasts}}
		_, quiet := ended(t, Scenario{Procs: 64, Order: order, Backfill: backfill}, jobs)
		r, got := ended(t, s, jobs)
		through := 0
		for _, before := range jobs {
			j := got[before.ID]
			if j.Start >= from && j.Start < from+lasts {
				t.Fatalf("%s %v: job %d starts %d s into the outage", order.Name, backfill, j.ID, j.Start-from)
			}
			if j.End-j.Start != min(before.Run, before.Limit) || j.Submit != before.Submit {
				t.Fatalf("%s %v: job %d came at %d and ran for %d s", order.Name, backfill, j.ID, j.Submit, j.End-j.Start)
			}
			if j.Start < from {
				if q := quiet[j.ID]; q.Start != j.Start {
					t.Fatalf("%s %v: job %d started at %d, without an outage at %d", order.Name, backfill, j.ID, j.Start, q.Start)
				}
				if j.End > from {
					through++
				}
			}
		}
		if through == 0 || r.All.Jobs != len(jobs) || r.Utilisation >= 1 {
			t.Errorf("%s %v: %d jobs ran when the outage began; %+v", order.Name, backfill, through, r.All)
		}
	}
}

// An outage that nobody notices changes nothing, even where all begins with it.
func TestOutageByHand(t *testing.T) {
	jobs := []sched.Job{
		{ID: 1, Submit: 1000, Procs: 3, Run: 100, Limit: 200},
		{ID: 2, Submit: 1150, Procs: 2, Run: 50, Limit: 60},
	}
	for _, c := range []struct {
		outage Outage
		starts [2]int64
	}{
		{Outage{}, [2]int64{1000, 1150}},
		{Outage{After: 0, Lasts: 30}, [2]int64{1030, 1150}},
		{Outage{After: 1, Lasts: 149}, [2]int64{1000, 1150}},
		{Outage{After: 1, Lasts: 150}, [2]int64{1000, 1151}},
		{Outage{After: 5000, Lasts: 50}, [2]int64{1000, 1150}},
	} {
		r, got := ended(t, Scenario{Procs: 4, Outage: c.outage}, jobs)
		if starts := [2]int64{got[1].Start, got[2].Start}; starts != c.starts {
			t.Errorf("%+v: jobs start at %d, want %d", c.outage, starts, c.starts)
		}
		if end := got[2].End; r.End != end {
			t.Errorf("%+v: the end is at %d, of the last job at %d", c.outage, r.End, end)
		}
	}
}
