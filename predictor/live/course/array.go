package course

import (
	"cmp"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A promise about an array is one about those of its tasks that start first, as many as were asked
// for. One job stands for them. It has the number of the array, starts when the last of these tasks
// does, and waits as long as one of them waits. It ends when all of them have ended. Tasks that
// were cancelled before they started do not count. A promise about the end is one about all tasks
// but those that were cancelled by then, and its run starts with the first of them.

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
		return !isTask(e, j.User, j.Comment, j.Submit)
	})
}

// isTask reports whether what a user submitted at a time, with a comment, is of e's array. Once the
// array is known, the time tells without the comment, which a user may change.
func isTask(e *ledger.Entry, user, comment string, submit int64) bool {
	plan, _ := api.PlanInComment(comment)
	return user == e.User && (plan == e.ID || submit == e.Progress.Submit)
}

// together returns the job that stands for those tasks of an array that e promises. It returns nil
// if they are all gone. tasks are those in the queue.
func together(e *ledger.Entry, array int64, tasks []*slurm.QueueEntry) *slurm.QueueEntry {
	c := countOf(e, tasks)
	needed := min(int(e.Tasks), len(c.started)+len(c.gone)+c.ready+c.held)
	if had := len(c.started) + len(c.gone); had < needed {
		return rest(e, array, c.waiting, had+c.ready < needed)
	}
	starts, by := c.gone, map[int64]*slurm.QueueEntry{}
	for _, j := range c.started {
		starts = append(starts, ledger.TaskRun{Job: j.ID, Start: j.Start, Nodes: j.Nodes})
		by[j.ID] = j
	}
	slices.SortFunc(starts, func(a, b ledger.TaskRun) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job))
	})
	var last *slurm.QueueEntry // of those that are promised and still there
	nodes, on := int32(0), []string(nil)
	for _, t := range starts[:needed] {
		nodes += t.Nodes
		if j := by[t.Job]; j != nil {
			last, on = j, append(on, j.On...)
		}
	}
	slices.Sort(on)
	on = slices.Compact(on)
	if last == nil {
		return nil
	}
	j := *last
	j.ID, j.Start, j.Nodes, j.On = array, starts[needed-1].Start, nodes, on
	if e.Job != 0 {
		j.Submit = e.Progress.Submit
	}
	return &j
}

// tasks are those of an array, by what has become of them.
type tasks struct {
	started, waiting []*slurm.QueueEntry
	ready, held      int              // of those that wait
	gone             []ledger.TaskRun // that have lasted until their work began
}

// countOf counts the tasks of e's array, of which the given ones are in the queue. Those that were
// cancelled while they waited, or before their work began, are not counted.
func countOf(e *ledger.Entry, inQueue []*slurm.QueueEntry) (c tasks) {
	runs := recorded(e)
	for _, j := range inQueue {
		delete(runs, j.ID)
		n := j.Count()
		if strings.Contains(j.ArrayTasks, "...") { // a part of a long list
			n = int(e.Array.Tasks)
		}
		switch {
		case j.Start != 0:
			c.started = append(c.started, j)
		case isAside(e, j):
			c.waiting, c.held = append(c.waiting, j), c.held+n
		default:
			c.waiting, c.ready = append(c.waiting, j), c.ready+n
		}
	}
	for _, t := range runs {
		if t.Gone >= WorkStart(e, t.Start) {
			c.gone = append(c.gone, t)
		}
	}
	return c
}

// isAside reports whether a task that waits cannot start in time as it is: it is held, or somebody
// has moved it by itself to after the deadline, or to another partition.
func isAside(e *ledger.Entry, j *slurm.QueueEntry) bool {
	moved := j.Eligible > e.Deadline() && j.RestartCount == 0
	return isStopped(j) || moved || e.Partition != "" && !j.MayRunIn(e.Partition)
}

// isStopped reports whether its user, an operator or Slurm holds a task.
func isStopped(j *slurm.QueueEntry) bool { return j.Held || j.Stopped != "" }

// recorded returns what was recorded of the tasks of e's array, by their jobs.
func recorded(e *ledger.Entry) map[int64]ledger.TaskRun {
	runs := make(map[int64]ledger.TaskRun, len(e.TaskRuns))
	for _, t := range e.TaskRuns {
		runs[t.Job] = t
	}
	return runs
}

// TasksLeft returns how many of the promised tasks of e's array there still are while their nodes
// are held: fewer than e.Tasks once so many were cancelled that the others are too few.
func (q *Queue) TasksLeft(e *ledger.Entry) int32 {
	c := countOf(e, q.tasksOf(e, e.Job))
	return min(e.Tasks, int32(len(c.started)+c.ready+c.held))
}

// rest returns the job that stands for the tasks of an array that wait. If held is true, too few of
// them may start, and it is as one of the others is: held rather than moved. ArrayTasks then has
// the tasks of that one, if they are not all.
func rest(e *ledger.Entry, array int64, waiting []*slurm.QueueEntry, held bool) *slurm.QueueEntry {
	slices.SortFunc(waiting, func(a, b *slurm.QueueEntry) int { return cmp.Compare(a.ID, b.ID) })
	of, tasks, all := waiting[0], int32(0), true
	for _, j := range waiting {
		tasks += int32(j.Count())
		aside := isAside(e, j)
		all = all && aside
		if j.ID == array && !held || held && aside && (isStopped(j) || !isStopped(of)) {
			of = j
		}
	}
	j := *of
	j.ID, j.Tasks = array, tasks
	if !held || all {
		j.ArrayTasks = ""
	}
	// What the array's own limit keeps back tells none, and what awaits its turn may tell its Submit.
	if (j.Eligible == 0 || j.Eligible == j.Submit) && !isStopped(&j) {
		j.Eligible = e.Progress.BeginTime
	}
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
	known := recorded(e)
	var changes []ledger.TaskRun
	for _, j := range q.tasksOf(e, e.Job) {
		was, started := known[j.ID]
		delete(known, j.ID)
		is := ledger.TaskRun{Job: j.ID, Start: j.Start, Nodes: j.Nodes}
		if (started || j.Start != 0 && (e.Progress.Start == 0 || e.FinishBy != 0)) && was != is {
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

// accountingLag is for how many seconds accounting may not know yet of a task that has started.
const accountingLag = 60

// Together returns the run that stands for those tasks of e's array that are promised, as
// accounting knows them at the time now, and for how many seconds the nodes of a task idled more,
// on average, than those of the last one, with those of the other tasks. It returns nil while one
// of them waits or runs, or accounting does not know it yet. If one of them did not last until its
// work began, and was not cancelled, that one stands for all.
func Together(e *ledger.Entry, runs []workload.Job, now int64) (run *workload.Job, idled int64) {
	tasks := tasksIn(e, runs)
	if slices.ContainsFunc(e.TaskRuns, func(t ledger.TaskRun) bool { return tasks[t.Job] == nil }) {
		return nil, 0
	}
	var started, late, withdrawn []*workload.Job
	unfinished, newest := 0, int64(0) // of those that have not started, and when the last one ended
	for _, t := range tasks {
		switch over := Ended(e, t); {
		case !over && t.Start == 0:
			unfinished++
		case !over:
			started = append(started, t)
		case t.State == workload.Cancelled && t.End <= e.Deadline() && (t.Start == 0 || e.FinishBy != 0 || t.End < WorkStart(e, t.Start)):
			withdrawn = append(withdrawn, t)
		case t.Start != 0:
			started = append(started, t)
		default:
			late = append(late, t)
		}
		newest = max(newest, t.End)
	}
	// Slurm keeps no account of a task that was cancelled while it waited, if others were not.
	forgotten := unfinished == 0 && len(tasks) < int(e.Array.Tasks) && len(tasks) > 0 && newest+accountingLag <= now
	needed := int(e.Tasks)
	switch {
	case e.Progress.Late && e.FinishBy != 0:
		// some waited after the deadline, and do not count as cancelled
		needed = max(0, needed-len(withdrawn))
	case unfinished == 0 && len(withdrawn) > 0, forgotten && !e.Progress.Late:
		needed = min(needed, len(started)+len(late))
	}
	switch {
	case needed == 0:
		return standFor(e, withdrawn[0]), 0
	case len(started) < needed && len(late) > 0 && unfinished == 0:
		return standFor(e, late[0]), 0
	case len(started) < needed && forgotten: // one that had waited until after the deadline
		never := standFor(e, slices.Concat(started, withdrawn)[0])
		never.Start, never.End, never.State = 0, max(newest, e.FinishBy+1), workload.Cancelled
		return never, 0
	case len(started) < needed:
		return nil, 0
	}
	slices.SortFunc(started, func(a, b *workload.Job) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	var idle int64 // nodes x seconds
	for _, t := range started[needed:] {
		idle += int64(t.Nodes) * Idle(t.Start, cmp.Or(t.End, e.HoldUntil), e.HoldUntil)
	}
	started = started[:needed]
	last := standFor(e, started[needed-1])
	last.Nodes = 0
	for _, t := range started {
		switch {
		case !Ended(e, t):
			return nil, 0
		case t.End < WorkStart(e, t.Start):
			return standFor(e, t), 0
		}
		last.Nodes += t.Nodes
		idle += int64(t.Nodes) * Idle(t.Start, t.End, e.HoldUntil)
		if t.End > last.End {
			last.End, last.State, last.Evicted = t.End, t.State, t.Evicted
		}
	}
	if e.FinishBy != 0 {
		endOfAll(last, started)
	}
	for _, t := range withdrawn {
		idle += int64(t.Nodes) * Idle(t.Start, t.End, e.HoldUntil)
	}
	return last, max(0, idle/int64(max(1, last.Nodes))-Idle(last.Start, last.End, e.HoldUntil))
}

// endOfAll makes run, of which End is known, the run of tasks about whose end a promise is. It
// starts with the first of them, and has as many nodes as they had on average. It ended as one did
// whose nodes were taken away, or else as one that did its work, or else as one that was stopped at
// its time limit. The tasks are in the order of their start.
func endOfAll(run *workload.Job, tasks []*workload.Job) {
	run.Start, run.State, run.Evicted = tasks[0].Start, workload.TimedOut, false
	var used int64 // nodes x seconds
	for _, t := range tasks {
		used += int64(t.Nodes) * Worked(t.Start, t.End)
		switch {
		case run.Evicted:
		case t.Evicted:
			run.State, run.Evicted = t.State, true
		case t.State != workload.TimedOut:
			run.State = workload.Completed
		}
	}
	if seconds := run.End - run.Start; seconds > 0 {
		run.Nodes = int32((used + seconds - 1) / seconds)
	}
}

// UnseenTasks returns the tasks of e's array that accounting knows to have started, and the queue
// has not shown.
func UnseenTasks(e *ledger.Entry, runs []workload.Job) (unseen []ledger.TaskRun) {
	for _, t := range tasksIn(e, runs) {
		known := slices.ContainsFunc(e.TaskRuns, func(r ledger.TaskRun) bool { return r.Job == t.ID })
		if t.Start != 0 && !known && len(unseen) < int(e.Waiting()) {
			unseen = append(unseen, ledger.TaskRun{Job: t.ID, Start: t.Start, Gone: t.End, Nodes: t.Nodes})
		}
	}
	return unseen
}

// tasksIn returns the tasks of e's array among runs, by their numbers: of each its latest run.
func tasksIn(e *ledger.Entry, runs []workload.Job) map[int64]*workload.Job {
	tasks := map[int64]*workload.Job{}
	for i := range runs {
		run := &runs[i]
		if !isTask(e, run.User, run.Comment, run.Submit) {
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
