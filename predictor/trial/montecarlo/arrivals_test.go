package montecarlo

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// TestArrivals draws from a past with one job an hour, on Mondays on two processors.
func TestArrivals(t *testing.T) {
	var a arrivals
	w := twin.New(new(queue.Queue), nil)
	monday := func(now int64) bool { return (now/day+4)%7 == 1 }
	now, id := int64(1000*week), int64(0)
	add := func() {
		id++
		j := workload.Job{ID: id, Submit: now}
		if j.CPUs = 1; monday(now) {
			j.CPUs = 2
		}
		a.submitted(&j, 60)
		now += hour
	}
	r := rand.New(rand.NewPCG(1, 6))
	draw := func(now, until int64) []rollout.Task {
		return a.draw(now, until, r, w, w.Snapshot(&workload.Request{}, now, 0), nil)
	}
	if tasks := draw(now, now+day); len(tasks) > 0 {
		t.Errorf("%d jobs are drawn from an empty past", len(tasks))
	}
	for range 5 * 7 * 24 {
		add()
	}
	last := now - hour // before the newest arrival
	tasks := draw(last, last+2*week)
	if len(tasks) != 2*7*24 {
		t.Errorf("%d jobs come in two weeks, want %d", len(tasks), 2*7*24)
	}
	for _, task := range tasks {
		sure := monday(task.Submit-about) == monday(task.Submit+about)
		if sure && monday(task.Submit) != (task.Procs == 2) || task.Submit <= last || task.Run != 60 {
			t.Fatalf("%+v is not like the past", task)
		}
	}
	for range mostArrivals {
		add()
	}
	if len(a.list) > mostArrivals || len(a.of) != len(a.list) {
		t.Errorf("%d are kept, %d of them as jobs that have not ended", len(a.list), len(a.of))
	}
}

// TestEndedArrivals: an arrival has the run time of its job, or is cancelled.
func TestEndedArrivals(t *testing.T) {
	var a arrivals
	for id := range int64(3) {
		a.submitted(&workload.Job{ID: id, Submit: id}, 60)
	}
	a.ended(&workload.Job{ID: 0, Start: 10, End: 50})
	a.ended(&workload.Job{ID: 1, End: 50})
	a.ended(&workload.Job{ID: 2, Start: 10, End: 100})
	a.ended(&workload.Job{ID: 3, Start: 10, End: 100}) // was never submitted
	if len(a.of) != 0 || a.list[0].run != 40 || !a.list[1].cancelled || a.list[2].run != 60 {
		t.Errorf("%+v", a.list)
	}
}
