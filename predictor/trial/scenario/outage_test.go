package scenario

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// During an outage no job starts under any policy. Jobs that run end when they would
// have, and all other jobs run after the outage.
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

// The starts of two jobs around outages: before the first submission, between the
// submissions, across one, after all jobs, and recurring.
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
		{Outage{After: 0, Lasts: 30, Every: 70}, [2]int64{1030, 1170}},
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

func TestParseOutage(t *testing.T) {
	for text, want := range map[string]Outage{
		"":                         {},
		"6h":                       {Lasts: 21600},
		"6h,after=15-0":            {Lasts: 21600, After: 15 * 86400},
		"90s,every=1h,after=1m30s": {Lasts: 90, After: 90, Every: 3600},
	} {
		got, err := ParseOutage(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"0s":          `"0s" is not between`,
		"after=1h":    "is not a duration",
		"6h,every=6h": `every: "6h" is not between`,
		"6h,at=noon":  "at: outages have only after and every",
	} {
		if _, err := ParseOutage(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
}

func FuzzParseOutage(f *testing.F) {
	f.Add("6h,after=15-0,every=30-0")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOutage(text)
		if err != nil {
			return
		}
		if again, err := ParseOutage(o.String()); err != nil || again != o {
			t.Errorf("%q is %+v, and that %+v: %v", text, o, again, err)
		}
	})
}
