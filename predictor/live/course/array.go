package course

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A promise about an array is one about those of its tasks that start first, as many as were asked
// for. One job stands for them. It has the number of the array, starts when the last of these tasks
// does, and waits as long as one of them waits. It ends when all of them have ended. Tasks that
// were cancelled before they started do not count.

// findArray is Find for an array.
func (q *Queue) findArray(e *ledger.Entry) *slurm.QueueEntry {
	id := e.Job
	if id == 0 {
		first := q.Plans.Claimant(e.ID, e.User)
		if first == nil || first.ArrayJob == 0 {
			return first
		}
		id = first.ArrayJob
	}
	if j := q.ByID[id]; j != nil && j.ArrayJob == 0 && IsQueued(e, j) { // it is no array
		return j
	}
	tasks := q.tasksOf(e, id)
	if len(tasks) == 0 {
		return nil
	}
	return together(e, id, tasks)
}

// tasksOf returns the entries of the array that are e's.
func (q *Queue) tasksOf(e *ledger.Entry, array int64) []*slurm.QueueEntry {
	return slices.DeleteFunc(slices.Clone(q.Arrays[array]), func(j *slurm.QueueEntry) bool {
		plan, _ := api.PlanInComment(j.Comment)
		return j.User != e.User || plan != e.ID && j.Submit != e.Progress.Submit
	})
}

// together returns the job that stands for those tasks of an array that e promises. It returns nil
// if they are all gone. tasks are those in the queue.
func together(e *ledger.Entry, array int64, tasks []*slurm.QueueEntry) *slurm.QueueEntry {
	var started, waiting []*slurm.QueueEntry
	ready, held := 0, 0 // of those that wait
	runs := map[int64]ledger.TaskRun{}
	for _, t := range e.TaskRuns {
		runs[t.Job] = t
	}
	for _, j := range tasks {
		delete(runs, j.ID)
		switch {
		case j.Start != 0:
			started = append(started, j)
		case j.Held || j.Stopped != "":
			waiting, held = append(waiting, j), held+j.Count()
		default:
			waiting, ready = append(waiting, j), ready+j.Count()
		}
	}
	needed := min(int(e.Tasks), len(started)+len(runs)+ready+held)
	if len(started)+len(runs) < needed {
		return rest(e, array, waiting, len(started)+len(runs)+ready < needed)
	}
	starts := slices.Collect(maps.Values(runs)) // first those that are gone
	by := map[int64]*slurm.QueueEntry{}
	for _, j := range started {
		starts = append(starts, ledger.TaskRun{Job: j.ID, Start: j.Start, Nodes: j.Nodes})
		by[j.ID] = j
	}
	slices.SortFunc(starts, func(a, b ledger.TaskRun) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job))
	})
	var last *slurm.QueueEntry // of those that are promised and still there
	nodes := int32(0)
	for _, t := range starts[:needed] {
		nodes += t.Nodes
		if j := by[t.Job]; j != nil {
			last = j
		}
	}
	if last == nil {
		return nil
	}
	j := *last
	j.ID, j.Start, j.Nodes = array, starts[needed-1].Start, nodes
	if e.Job != 0 {
		j.Submit = e.Progress.Submit
	}
	return &j
}

// rest returns the job that stands for the tasks of an array that wait. If held is true, too few of
// them may start, and it is held as one of the others is.
func rest(e *ledger.Entry, array int64, waiting []*slurm.QueueEntry, held bool) *slurm.QueueEntry {
	slices.SortFunc(waiting, func(a, b *slurm.QueueEntry) int { return cmp.Compare(a.ID, b.ID) })
	of, tasks := waiting[0], int32(0)
	for _, j := range waiting {
		tasks += int32(j.Count())
		if stopped := j.Held || j.Stopped != ""; j.ID == array && !held || stopped && held {
			of = j
		}
	}
	j := *of
	j.ID, j.Tasks = array, tasks
	j.AtOnce = cmp.Or(j.AtOnce, e.Array.AtOnce) // which Slurm tells of several tasks only
	if e.Job != 0 {
		j.Submit = e.Progress.Submit
		if of.RestartCount > 0 && j.Eligible != 0 { // this task alone was put back into the queue
			j.Eligible, j.RestartCount = e.Progress.BeginTime, 0
		}
	}
	return &j
}

// TaskChanges returns which tasks of e's array have started, wait again, or are gone since they
// were recorded last. Once as many have started as are promised, others do not matter.
func (q *Queue) TaskChanges(e *ledger.Entry) []ledger.TaskRun {
	known := map[int64]ledger.TaskRun{}
	for _, t := range e.TaskRuns {
		known[t.Job] = t
	}
	var changes []ledger.TaskRun
	for _, j := range q.tasksOf(e, e.Job) {
		was, recorded := known[j.ID]
		delete(known, j.ID)
		is := ledger.TaskRun{Job: j.ID, Start: j.Start, Nodes: j.Nodes}
		if (recorded || j.Start != 0 && e.Progress.Start == 0) && was != is {
			changes = append(changes, is)
		}
	}
	for _, t := range known {
		if t.Gone == 0 {
			t.Gone = q.At
			changes = append(changes, t)
		}
	}
	return changes
}

// Together returns the run that stands for those tasks of e's array that are promised, as
// accounting knows them, and for how many seconds the nodes of a task idled more, on average, than
// those of the last one. It returns nil while one of them waits or runs, or accounting does not
// know it yet. If one of them did not last until its work began, that one stands for all.
func Together(e *ledger.Entry, runs []workload.Job) (run *workload.Job, idled int64) {
	tasks := tasksIn(e, runs)
	if slices.ContainsFunc(e.TaskRuns, func(t ledger.TaskRun) bool { return tasks[t.Job] == nil }) {
		return nil, 0
	}
	var started, waiting, late, withdrawn []*workload.Job
	for _, t := range tasks {
		switch {
		case t.Start != 0:
			started = append(started, t)
		case !Ended(e, t):
			waiting = append(waiting, t)
		case t.State == workload.Cancelled && t.End <= e.BeginBy:
			withdrawn = append(withdrawn, t)
		default:
			late = append(late, t)
		}
	}
	needed := int(e.Tasks)
	if len(waiting) == 0 && len(withdrawn) > 0 {
		needed = min(needed, len(started)+len(late))
	}
	switch {
	case needed == 0:
		return standFor(e, withdrawn[0]), 0
	case len(started) < needed && (len(waiting) > 0 || len(late) == 0):
		return nil, 0
	case len(started) < needed:
		return standFor(e, late[0]), 0
	}
	slices.SortFunc(started, func(a, b *workload.Job) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	started = started[:needed]
	last := standFor(e, started[needed-1])
	last.Nodes = 0
	var idle int64
	for _, t := range started {
		switch {
		case !Ended(e, t):
			return nil, 0
		case t.End < WorkStart(e, t.Start):
			return standFor(e, t), 0
		}
		last.Nodes += t.Nodes
		idle += int64(t.Nodes) * (last.Start - t.Start)
		if t.End > last.End {
			last.End, last.State, last.Evicted = t.End, t.State, t.Evicted
		}
	}
	return last, idle / int64(max(1, last.Nodes))
}

// tasksIn returns the tasks of e's array among runs, by their numbers: of each its latest run.
func tasksIn(e *ledger.Entry, runs []workload.Job) map[int64]*workload.Job {
	tasks := map[int64]*workload.Job{}
	for i := range runs {
		run := &runs[i]
		plan, _ := api.PlanInComment(run.Comment)
		if run.User != e.User || plan != e.ID && run.Submit != e.Progress.Submit {
			continue
		}
		if was := tasks[run.ID]; was == nil || was.Submit < run.Submit {
			tasks[run.ID] = run
		}
	}
	return tasks
}

// standFor returns the run of a task as that of the array.
func standFor(e *ledger.Entry, task *workload.Job) *workload.Job {
	run := *task
	run.ID, run.Submit = e.Job, e.Progress.Submit
	return &run
}
