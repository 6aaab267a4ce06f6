package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
)

// queue is the whole queue of a look. It must not be changed.
type queue struct {
	jobs  map[int64]*slurm.QueueEntry // by id
	index func() *index               // of the jobs: made once, for the first who asks
}

func newQueue(jobs map[int64]*slurm.QueueEntry) *queue {
	return &queue{jobs, sync.OnceValue(func() *index { return indexOf(jobs) })}
}

// mostAsked is of how many jobs of one question Slurm is asked that the queue does not show.
const mostAsked = 10

// withNew returns a queue that also has those of some jobs that were submitted since the look, and
// those for which they wait, as read reads them; see Desk.Job. A job that cannot be read is left
// out.
func (q *queue) withNew(ctx context.Context, read reader, jobs []int64) *queue {
	if len(jobs) == 0 {
		return q
	}
	unseen := q.index().unseen(jobs)
	found, _ := q.index().readNew(ctx, read, unseen[:min(len(unseen), mostAsked)], mostNew)
	if len(found) == 0 {
		return q
	}
	x := q.index().with(found)
	return &queue{x.entries, func() *index { return x }}
}

// reader reads a job, or returns slurm.ErrNotFound if it is over.
type reader func(ctx context.Context, id int64) (slurm.QueueEntry, error)

// unseen returns those of some jobs, or arrays, that the queue does not have.
func (x *index) unseen(jobs []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(jobs), func(id int64) bool { return len(x.of(id)) > 0 })
}

// readNew reads jobs that the queue does not have, and those of which they wait that it does not
// have either: at most so many, or the error is errTooManyNew. Those that are over are left out.
func (x *index) readNew(ctx context.Context, read reader, jobs []int64, most int) (found []*slurm.QueueEntry, err error) {
	if read == nil {
		return nil, nil
	}
	jobs = slices.Clone(jobs)
	for i := 0; i < len(jobs); i++ {
		if len(jobs) > most {
			return found, errTooManyNew
		}
		switch entry, err := read(ctx, jobs[i]); {
		case errors.Is(err, slurm.ErrNotFound):
		case err != nil:
			return found, fmt.Errorf("job %d: %w", jobs[i], err)
		default:
			found = append(found, &entry)
			for _, c := range conditionsOf(&entry) {
				if c.Job != 0 && len(x.of(c.Job)) == 0 && !slices.Contains(jobs, c.Job) {
					jobs = append(jobs, c.Job)
				}
			}
		}
	}
	return found, nil
}

var errTooManyNew = errors.New("too many jobs are not in the queue")

// index finds the jobs of a queue that wait for others, and these others. It must not be changed.
type index struct {
	entries   map[int64]*slurm.QueueEntry
	arrays    map[int64][]*slurm.QueueEntry // by the array's number
	namesakes map[name][]*slurm.QueueEntry
	waits     map[target][]wait
}

// name is what a singleton's namesakes have in common.
type name struct{ user, name string }

func nameOf(j *slurm.QueueEntry) name { return name{j.User, j.Name} }

// wait is a job that waits for one condition, and target what that is about: a job, an array, or
// the namesakes of a singleton.
type (
	wait struct {
		job *slurm.QueueEntry
		dependency.Condition
	}
	target struct {
		job int64
		name
	}
)

// indexOf returns the index of the jobs of a queue. Its lists are in the order of their ids. For n
// jobs with m conditions it takes O(n log n + m).
func indexOf(jobs map[int64]*slurm.QueueEntry) *index {
	x := &index{jobs, map[int64][]*slurm.QueueEntry{}, map[name][]*slurm.QueueEntry{}, map[target][]wait{}}
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		j := jobs[id]
		if j.ArrayJob != 0 {
			x.arrays[j.ArrayJob] = append(x.arrays[j.ArrayJob], j)
		}
		own := nameOf(j)
		x.namesakes[own] = append(x.namesakes[own], j)
		for _, c := range conditionsOf(j) {
			about := target{job: c.Job}
			if c.Kind == dependency.Singleton {
				about.name = own
			}
			x.waits[about] = append(x.waits[about], wait{j, c})
		}
	}
	return x
}

// with returns an index that also has some jobs, or has them in the place of others with their ids.
func (x *index) with(jobs []*slurm.QueueEntry) *index {
	if len(jobs) == 0 {
		return x
	}
	all := maps.Clone(x.entries)
	for _, j := range jobs {
		all[j.ID] = j
	}
	return indexOf(all)
}

// conditionsOf returns the conditions that a job waits for: none if they cannot be read.
func conditionsOf(j *slurm.QueueEntry) []dependency.Condition {
	d, _ := dependency.Parse(j.Dependency)
	return d.Conditions
}

// awaitedBy returns the jobs of the queue of which a job waits for one condition. It takes O(n), if
// n are in the array that it names or are the job's namesakes.
func (x *index) awaitedBy(j *slurm.QueueEntry, c dependency.Condition) (on []*slurm.QueueEntry) {
	among := x.arrays[c.Job]
	switch {
	case c.Kind == dependency.Singleton:
		among = x.namesakes[nameOf(j)]
	case len(among) == 0 && x.entries[c.Job] != nil:
		among = []*slurm.QueueEntry{x.entries[c.Job]}
	}
	for _, other := range among {
		if isOn(j, c, other) {
			on = append(on, other)
		}
	}
	return on
}

// isOn reports whether a condition of a job is one on another job.
func isOn(j *slurm.QueueEntry, c dependency.Condition, other *slurm.QueueEntry) bool {
	switch {
	case c.Kind == dependency.Singleton:
		return nameOf(other) == nameOf(j) && other.ID != j.ID && (other.Start != 0 || other.ID < j.ID)
	case other.ArrayJob != c.Job:
		return other.ID == c.Job
	}
	wanted := ""
	if c.Task >= 0 {
		wanted = strconv.Itoa(int(c.Task))
	} else if c.Kind == dependency.Corresponding {
		wanted = j.ArrayTasks
	}
	common, _, _ := slurm.CommonTasks(other.ArrayTasks, wanted)
	return wanted == "" || common != ""
}

// of returns the jobs of the queue with a number: a job, and all that there is of an array.
func (x *index) of(id int64) []*slurm.QueueEntry {
	entries := x.arrays[id]
	if j := x.entries[id]; j != nil && j.ArrayJob != id {
		entries = append(entries[:len(entries):len(entries)], j)
	}
	return entries
}

// awaited returns the jobs of the queue that a job waits for.
func (x *index) awaited(j *slurm.QueueEntry) (on []*slurm.QueueEntry) {
	for _, c := range conditionsOf(j) {
		on = append(on, x.awaitedBy(j, c)...)
	}
	return on
}

// behind returns the jobs of the queue that wait for a job.
func (x *index) behind(on *slurm.QueueEntry) (jobs []*slurm.QueueEntry) {
	for _, about := range []target{{job: on.ID}, {job: on.ArrayJob}, {name: nameOf(on)}} {
		for _, w := range x.waits[about] {
			if isOn(w.job, w.Condition, on) {
				jobs = append(jobs, w.job)
			}
		}
	}
	return jobs
}

// flow returns some jobs of the queue, those that they wait for, directly or not, and those that
// wait for them, in the order of their ids.
func (x *index) flow(named []int64) (members []*slurm.QueueEntry) {
	for _, id := range named {
		members = append(members, x.of(id)...)
	}
	roots := slices.Clone(members)
	for _, next := range []func(*slurm.QueueEntry) []*slurm.QueueEntry{x.awaited, x.behind} {
		seen := map[int64]bool{}
		for rest := slices.Clone(roots); len(rest) > 0; rest = rest[1:] {
			for _, j := range next(rest[0]) {
				if !seen[j.ID] {
					seen[j.ID] = true
					members, rest = append(members, j), append(rest, j)
				}
			}
		}
	}
	slices.SortFunc(members, func(a, b *slurm.QueueEntry) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Compact(members)
}
