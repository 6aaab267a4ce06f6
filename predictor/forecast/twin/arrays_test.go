package twin

import (
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// submitArray adds an array of tasks that wait.
func (b *bench) submitArray(now int64, procs int32, limit int64, tasks, atOnce int32) workload.Job {
	b.id++
	j := workload.Job{ID: b.id, Array: b.id, Submit: now, Tasks: tasks, AtOnce: atOnce}
	j.CPUs, j.Limit = procs, limit
	b.q.Submit(j)
	b.w.Submitted(&j)
	return j
}

// TestArrayIsItsTasks: a job behind an array waits about as long as behind so many jobs, and
// the array takes no more than so many tasks of a rollout.
func TestArrayIsItsTasks(t *testing.T) {
	for _, c := range []struct {
		pool, procs, tasks int32
		exactly            bool
	}{
		{10, 1, 100, true}, {10, 3, 100, true}, {10, 1, 5000, false}, {10, 4, 3000, false}, {1000, 1, 6000, false}, {4000, 7, 3000, false},
	} {
		array, jobs := sit(poolOf(c.pool)), sit(poolOf(c.pool))
		array.submitArray(1000, c.procs, 600, c.tasks, 0)
		for range c.tasks {
			jobs.submit(1000, c.procs, 600)
		}
		r := request(c.pool, 6000)
		// The array is ahead also if the least work goes first.
		if p := array.w.Point(r, 1001, 0); slices.Min(p.ByOrder[:]) < p.Expected*9/10 {
			t.Errorf("%+v: %+v", c, p)
		}
		got, want := array.w.Point(r, 1001, 0).Limits, jobs.w.Point(r, 1001, 0).Limits
		if c.exactly && got != want || math.Abs(float64(got-want)) > .1*float64(want) {
			t.Errorf("%+v: %d s, behind jobs %d s", c, got, want)
		}
		if s := array.w.Snapshot(r, 1001, 0); len(s.Pending) > mostTasks || c.exactly && len(s.Pending) != int(c.tasks) {
			t.Errorf("%+v: %d tasks of a rollout", c, len(s.Pending))
		}
	}
}

// TestManyArrays: many large arrays together take a bounded number of tasks of a rollout.
func TestManyArrays(t *testing.T) {
	b := sit(poolOf(100))
	for range 1000 {
		b.submitArray(1000, 1, 600, 4_000_000, 0)
	}
	if s := b.w.Snapshot(request(1, 60), 1001, 0); len(s.Pending) > allTasks+1000*leastBeside {
		t.Errorf("%d tasks of a rollout", len(s.Pending))
	}
}

// TestTasksAtOnce: an array with a limit on the tasks that run at once leaves the other
// processors to others, and its tasks follow one another.
func TestTasksAtOnce(t *testing.T) {
	b := sit(poolOf(10))
	array := b.submitArray(1000, 1, 600, 10, 4)
	for range 3 {
		b.id++
		task := workload.Job{ID: b.id, Array: array.ID, Submit: 1000}
		task.CPUs, task.Limit = 1, 600
		b.start(1000, task)
	}
	// The 10 tasks that wait need three rounds: after the three tasks that run, and in the
	// place that is left.
	for _, c := range []struct {
		procs int32
		want  int64
	}{{6, 0}, {7, 1800}, {8, 2400}, {10, 2400}} {
		if got := b.w.Point(request(c.procs, 60), 1000, 0).Limits; got != c.want {
			t.Errorf("%d processors: %d s, want %d", c.procs, got, c.want)
		}
	}
}
