package desk

import (
	"slices"

	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/slurm"
)

// series is a job that waits, or the tasks of an array that do, of which some run at once. If the
// array has as many tasks running as it lets run at once, the conditions of the job are the ends of
// these, and each task that waits comes in the place of one that has ended.
type series struct {
	flow.Job // without Run
	atOnce   int32
	full     bool
	// corresponding are the tasks that each wait for one of another array, or nil
	corresponding []corresponding
	run           func(c completion.Circumstances) func(prob float64) float64
}

// corresponding is tasks of an array, from the one after before up to through, that wait for the
// same ones of another array: for all of these, of which the first is done at another time.
type corresponding struct {
	first, all      flow.Condition
	before, through int32
}

// correspond takes in that tasks wait for those of another array that have the same indices, and
// are a job of the queue.
func (s *series) correspond(f *flows, j, other *slurm.QueueEntry, is *awaited, after flow.Condition) {
	_, before, through := slurm.CommonTasks(j.ArrayTasks, other.ArrayTasks)
	c := corresponding{after, after, before, through}
	if other.Start == 0 && other.Count() > 1 {
		c.first.Job = is.series.only(f, 0)
	}
	s.corresponding = append(s.corresponding, c)
}

// behind returns the tasks of c, which come after one more condition.
func (s *series) behind(c *corresponding, last flow.Condition) *series {
	tasks := *s
	tasks.corresponding = nil
	tasks.ID += int64(c.before)
	tasks.Conditions = append(slices.Clip(s.Conditions), last)
	return &tasks
}

// comesAfter reports whether a job comes after others that end: after those of its dependency, or
// in the place of tasks of its array.
func comesAfter(j *slurm.QueueEntry) bool { return j.Dependency != "" || isFull(j) }

// isFull reports whether a job is what waits of an array that has as many tasks running as it lets
// run at once.
func isFull(j *slurm.QueueEntry) bool { return j.ArrayFull() && j.Dependency == "" }

// places sets the running tasks in the place of which those come that wait. It reports false if of
// one of them nothing is forecast.
func (s *series) places(f *flows, j *slurm.QueueEntry) bool {
	for _, other := range f.arrays[j.ArrayJob] {
		if other.Start == 0 {
			continue
		}
		is := f.of(other)
		if is.unknown != "" {
			return false
		}
		s.Conditions = append(s.Conditions, flow.Condition{Event: flow.Ended, Job: is.place})
	}
	if n := int32(len(s.Conditions)); n > 0 {
		s.full, s.atOnce = true, n
	}
	return true
}

// add adds so many of the tasks to the flow, those that start first, and returns their place.
func (s *series) add(f *flows, n int32) int {
	if len(s.corresponding) > 0 {
		return s.addCorresponding(f, n)
	}
	all := rounds(n, s.atOnce)
	if !s.full {
		return s.stretch(f, 0, min(n, s.atOnce), all)
	}
	// the last round comes in the places of those that end first
	last := n - (all-1)*s.atOnce
	parts := []int{s.stretch(f, 1, 1, 0), s.stretch(f, last, last, all)}
	if all > 1 {
		parts = append(parts, s.stretch(f, s.atOnce, s.atOnce, all-1))
	}
	return f.Join(parts)
}

// addCorresponding is add for tasks that wait for those of another array.
func (s *series) addCorresponding(f *flows, n int32) int {
	var parts []int
	for i := range s.corresponding {
		c := &s.corresponding[i]
		if c.before >= n {
			continue
		}
		if c.first != c.all {
			parts = append(parts, s.behind(c, c.first).add(f, 1))
		}
		parts = append(parts, s.behind(c, c.all).add(f, min(n, c.through)-c.before))
	}
	return f.Join(parts)
}

// among returns the tasks of which the one is that comes after so many, and which start with it
// where they wait for others of their own; and how many of these come before it.
func (s *series) among(n int32) (*series, int32) {
	for i := range s.corresponding {
		if c := &s.corresponding[i]; c.before <= n && n < c.through {
			last := c.all
			if n == c.before {
				last = c.first
			}
			return s.behind(c, last), 0
		}
	}
	return s, n
}

// turn returns how many conditions have to come true before the task runs that comes after so many,
// all if it is 0, and in how many rounds others do before it.
func (s *series) turn(n int32) (needed, rounds int32) {
	if s.full {
		needed = n%s.atOnce + 1
	}
	return needed, n / s.atOnce
}

// only adds the task to the flow that comes after so many, and returns its place.
func (s *series) only(f *flows, n int32) int {
	s, n = s.among(n)
	needed, rounds := s.turn(n)
	return s.stretch(f, needed, 1, rounds+1)
}

// after returns when the task starts and ends, in each course, that comes after so many.
func (s *series) after(f *flows, n int32) (start, end []int64) {
	end = f.Courses(s.only(f, n)).End
	s, n = s.among(n)
	needed, rounds := s.turn(n)
	return f.Courses(s.stretch(f, needed, 1, rounds)).End, end
}

// stretch adds some rounds of as many tasks to the flow, once so many conditions have come true:
// all if needed is 0.
func (s *series) stretch(f *flows, needed, tasks, rounds int32) int {
	job := s.Job
	if s.full {
		job.Needed, job.AsDrawn = int(needed), true
	}
	job.Run, job.Limit = func(float64) float64 { return 0 }, s.Limit*int64(rounds)
	if rounds > 0 {
		c := completion.Circumstances{Rounds: rounds}
		if tasks > 1 {
			c.Tasks = tasks
		}
		job.Run = s.run(c)
	}
	return f.Add(job)
}
