package selfscore

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// pending makes a fixture ask about jobs that wait, and returns the questions that it asks.
func (f *fixture) pending() *[]forecast.Question {
	asked := new([]forecast.Question)
	f.AskPending = func(_ context.Context, q *forecast.Question) (forecast.Answer, bool) {
		*asked = append(*asked, *q)
		return forecast.Answer{Wait: *forecasttest.Exponential(600)}, true
	}
	return asked
}

// rows returns how many forecasts were scored, by forecaster and by what they are of.
func (f *fixture) rows(t *testing.T) map[string]int {
	t.Helper()
	c, err := Reader{Scores: f.scores, Now: func() int64 { return now + 86400 }}.Rows(t.Context(), api.CalibrationQuery{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, r := range c.Rows {
		rows[fmt.Sprint(r.Forecaster, " ", r.Of)] = r.Forecasts
	}
	return rows
}

// waiting is a job that has waited for an hour, and that Slurm expects to start at a time.
func waiting(id, expected int64) slurm.QueueEntry {
	j := job(id, now-3600, 0)
	j.State, j.Expected = workload.Pending, expected
	return j
}

// TestSights: jobs that wait are asked about from time to time, each as one that has waited for so
// long. When such a job starts, the forecasts of the rest of its wait are scored, and Slurm's own
// where there was one, also after a restart and if only accounting tells of the start.
func TestSights(t *testing.T) {
	f := start(t)
	asked := f.pending()
	held, gone := waiting(4, 0), waiting(5, 0)
	held.Held = true
	f.look(t, now, waiting(1, now+300), waiting(2, 0), waiting(3, now-5), held, gone)
	want := forecast.Question{Request: workload.Request{Partition: "batch", Limit: 3600}, Now: now, Submit: now, Since: now - 3600}
	if len(*asked) != 4 {
		t.Fatalf("asked %d questions", len(*asked))
	}
	for _, q := range *asked {
		want.Job = q.Job
		if diff := cmp.Diff(want, q); diff != "" || q.Job == 4 {
			t.Error(diff)
		}
	}
	f.look(t, now+1, waiting(1, now+300), waiting(2, 0))
	if len(*asked) != 4 {
		t.Errorf("asked again a second later")
	}
	f.open(t)
	started := waiting(1, 0)
	started.Start, started.State = now+290, workload.Running
	f.look(t, now+300, started, waiting(2, 0))
	if diff := cmp.Diff(map[string]int{"pending pending": 1, "slurm pending": 1}, f.rows(t)); diff != "" {
		t.Error(diff)
	}
	ended, cancelled := job(2, now-3600, now+310).Job, job(5, now-3600, 0).Job
	ended.End, ended.State = now+400, workload.Completed
	cancelled.End, cancelled.State = now+400, workload.Cancelled
	another := job(3, now+500, now+600).Job // which has the number of one that is gone
	if err := f.ObserveAccounting(t.Context(), []workload.Job{ended, cancelled, another}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"pending pending": 2, "slurm pending": 1}, f.rows(t)); diff != "" {
		t.Error(diff)
	}
	if len(f.sights) != 0 {
		t.Errorf("still open: %v", f.sights)
	}
}

// TestSightsOfDependents: jobs that wait for others are asked about with these, and scored when
// they start, also if another forecasts nothing of them.
func TestSightsOfDependents(t *testing.T) {
	f := start(t)
	f.pending()
	var asked []int64
	f.AskDependent = func(_ context.Context, j *slurm.QueueEntry) (flow.Wait, bool) {
		asked = append(asked, j.ID)
		return flow.Wait{Drawn: *forecasttest.Exponential(600), Told: *forecasttest.Exponential(300), Waits: 2}, j.ID != 3
	}
	dependent := func(id int64) slurm.QueueEntry {
		j := waiting(id, 0)
		j.Dependency, j.Eligible = "afterok:9(unfulfilled)", 0
		return j
	}
	f.look(t, now, waiting(1, 0), dependent(2), dependent(3), dependent(4))
	if len(asked) != 3 {
		t.Errorf("asked about %v", asked)
	}
	free, started, moved := waiting(2, 0), waiting(2, 0), waiting(4, 0)
	free.Eligible, moved.Eligible = now+100, now+9000
	f.look(t, now+200, waiting(1, 0), free, moved)
	started.Eligible, started.Start, started.State = now+100, now+290, workload.Running
	f.look(t, now+300, waiting(1, 0), started)
	if diff := cmp.Diff(map[string]int{"blend wait": 1, "dependent pending": 1, "courses pending": 1}, f.rows(t)); diff != "" || len(f.sights) != 1 {
		t.Error(diff, f.sights)
	}
}

// TestSightsOfFew: of many jobs that wait, a few are asked about at a time.
func TestSightsOfFew(t *testing.T) {
	f := start(t)
	asked := f.pending()
	var queue []slurm.QueueEntry
	for i := range int64(100) {
		queue = append(queue, waiting(i+1, 0))
	}
	for at := int64(now); at < now+86400; at += 60 {
		f.look(t, at, queue...)
	}
	if n := len(*asked); n < mostSeen*86400/seeEvery*8/10 || n > mostSeen*86400/seeEvery*12/10 {
		t.Errorf("asked %d questions in a day", n)
	}
}
