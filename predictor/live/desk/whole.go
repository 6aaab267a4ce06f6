package desk

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

// whole tells of the members of a flow. Its end is the one of those that count.
func (f *flows) whole(members, counting []*slurm.QueueEntry) *api.Flow {
	told := &api.Flow{Jobs: []api.FlowJob{}}
	members = slices.Clone(members)
	if len(members) > 1 {
		f.desk.Outlook.Gather(f.now)
	}
	var places []int
	places, told.Unknown = f.places(counting)
	for _, j := range members {
		f.of(j)
	}
	// of jobs of which nothing is forecast, those come last that were not found to wait for others
	slices.SortStableFunc(members, func(a, b *slurm.QueueEntry) int {
		x, y := f.of(a), f.of(b)
		return cmp.Or(cmp.Compare(len(x.unknown), len(y.unknown)), cmp.Compare(x.place, y.place), cmp.Compare(a.ID, b.ID))
	})
	critical := f.Critical(places)
	told.Lost = f.Lost(places)
	for _, j := range members {
		a := f.of(j)
		job := api.FlowJob{Job: j.ID, Array: j.ArrayJob, Tasks: j.ArrayTasks, Name: j.Name, User: j.User, Runs: j.Start != 0, After: a.after, Unknown: a.unknown}
		if a.unknown == "" {
			courses := f.Courses(a.place)
			job.Start, job.End, job.Critical = forecastOf(courses.Start), forecastOf(courses.End), critical[a.place]
		}
		told.Jobs = append(told.Jobs, job)
	}
	if told.Unknown == "" && len(places) > 0 {
		told.End = forecastOf(f.Last(places))
	}
	return told
}

// members returns the jobs of a flow: some jobs of the queue, those that they wait for, and those
// that wait for them, as far as the user may see them.
func (f *flows) members(named []int64) []*slurm.QueueEntry {
	named = slices.DeleteFunc(slices.Clone(named), func(id int64) bool {
		j := f.entries[id]
		return j != nil && !f.sees(j) || slices.ContainsFunc(f.arrays[id], func(j *slurm.QueueEntry) bool { return !f.sees(j) })
	})
	return slices.DeleteFunc(f.flow(named), func(j *slurm.QueueEntry) bool { return !f.sees(j) })
}
