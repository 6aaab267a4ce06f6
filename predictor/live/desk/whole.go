package desk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/slurm"
)

// whole tells of the members of a flow. Its end is the one of those that count.
func (f *flows) whole(members, counting []*slurm.QueueEntry) *api.Flow {
	told := &api.Flow{Jobs: []api.FlowJob{}, Learning: f.desk.Outlook.Learning()}
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
		job := api.FlowJob{Job: j.ID, Array: j.ArrayJob, Tasks: j.ArrayTasks, Name: cmp.Or(j.Engine.Task, j.Name), User: j.User, Runs: j.Start != 0, After: a.after, Unknown: a.unknown}
		if a.unknown == "" {
			courses := f.Courses(a.place)
			job.Start, job.End, job.Critical = forecastOf(flow.TimesOf(courses.Start)), forecastOf(flow.TimesOf(courses.End)), critical[a.place]
		}
		told.Jobs = append(told.Jobs, job)
	}
	if told.Unknown == "" && len(places) > 0 {
		told.End = forecastOf(flow.TimesOf(f.Last(places)))
	}
	return told
}

// named returns the numbers of those of some jobs that the user may see, and of all that a workflow
// engine has submitted for the same runs. engines has the names of these engines, or is empty.
func (f *flows) named(jobs []int64) (all []int64, engines string) {
	type run struct{ user, engine, run string }
	of := func(j *slurm.QueueEntry) run { return run{j.User, j.Engine.Name, j.Engine.Run} }
	runs, names := map[run]bool{}, []string{}
	for _, id := range jobs {
		for _, j := range f.index.of(id) {
			if !f.sees(j) {
				continue
			}
			all = append(all, j.ID)
			if j.Engine.Run != "" {
				runs[of(j)] = true
				names = append(names, j.Engine.Name)
			}
		}
	}
	if len(runs) > 0 {
		for _, j := range f.entries {
			if runs[of(j)] {
				all = append(all, j.ID)
			}
		}
	}
	slices.Sort(names)
	return all, strings.Join(slices.Compact(names), " and ")
}

// members returns the jobs of a flow: some jobs of the queue, those that they wait for, and those
// that wait for them, as far as the user may see them.
func (f *flows) members(named []int64) []*slurm.QueueEntry {
	return slices.DeleteFunc(f.flow(named), func(j *slurm.QueueEntry) bool { return !f.sees(j) })
}
