package course

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	arrayPlan = "aaaaaaaaaaaa"
	array     = 100 // the number of the array, submitted at 1000, to run by 5000
)

// promised returns a promise about some of six tasks.
func promised(tasks int32, runs ...ledger.TaskRun) *ledger.Entry {
	e := &ledger.Entry{Open: true, TaskRuns: runs, Reservation: api.Reservation{
		Plan: api.Plan{ID: arrayPlan, Array: api.Array{Tasks: 6}, Tasks: tasks, BeginBy: 5000, HoldUntil: 5000}, User: "alice", Job: array, Started: int32(len(runs)),
	}}
	e.Progress = ledger.Progress{Submit: 1000, BeginTime: 4000, TimeLimit: 600, WasLimit: 600}
	return e
}

// task returns an entry of the queue: so many tasks that wait if start is 0.
func task(id, start int64, tasks int32, change ...func(*slurm.QueueEntry)) slurm.QueueEntry {
	j := slurm.QueueEntry{ArrayJob: array, Job: workload.Job{
		ID: id, Array: array, Tasks: tasks, Submit: 1000, Eligible: 4000, Start: start, Comment: api.CommentPrefix + arrayPlan,
		Request: workload.Request{User: "alice", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 600},
	}}
	for _, do := range change {
		do(&j)
	}
	return j
}

// The job that stands for an array starts with the last of those tasks that are promised.
func TestFindArray(t *testing.T) {
	held := func(j *slurm.QueueEntry) { j.Held = true }
	bobs := func(j *slurm.QueueEntry) { j.User = "bob" }
	moved := func(j *slurm.QueueEntry) { j.Eligible = 5001 }
	elsewhere := func(j *slurm.QueueEntry) { j.Partition = "long" }
	throttled := func(j *slurm.QueueEntry) { j.Eligible = 0 }
	requeued := func(j *slurm.QueueEntry) { j.Submit, j.Eligible, j.RestartCount = 4500, 4620, 1 }
	gone := func(job, start int64) ledger.TaskRun {
		return ledger.TaskRun{Job: job, Start: start, Gone: 5050, Nodes: 1}
	}
	for name, c := range map[string]struct {
		promised *ledger.Entry
		queue    []slurm.QueueEntry
		want     string
	}{
		"all wait":               {promised(6), []slurm.QueueEntry{task(100, 0, 6)}, "6 wait, from 4000"},
		"others' tasks":          {promised(6), []slurm.QueueEntry{task(100, 0, 6, bobs)}, "none"},
		"some wait":              {promised(6), []slurm.QueueEntry{task(101, 4100, 0), task(100, 0, 5)}, "5 wait, from 4000"},
		"enough have started":    {promised(2), []slurm.QueueEntry{task(102, 4200, 0), task(101, 4100, 0), task(100, 0, 4)}, "2 nodes since 4200"},
		"more have started":      {promised(2), []slurm.QueueEntry{task(103, 4300, 0), task(101, 4100, 0), task(102, 4200, 0), task(100, 0, 3)}, "2 nodes since 4200"},
		"one is gone":            {promised(2, gone(101, 4100)), []slurm.QueueEntry{task(102, 4200, 0), task(100, 0, 4)}, "2 nodes since 4200"},
		"the last one is gone":   {promised(2, gone(102, 4200)), []slurm.QueueEntry{task(101, 4100, 0), task(100, 0, 4)}, "2 nodes since 4200"},
		"all promised are gone":  {promised(2, gone(101, 4100), gone(102, 4200)), []slurm.QueueEntry{task(100, 0, 4)}, "none"},
		"one was cancelled held": {promised(3, ledger.TaskRun{Job: 103, Start: 4100, Gone: 4500, Nodes: 1}), []slurm.QueueEntry{task(101, 4100, 0), task(102, 4200, 0)}, "2 nodes since 4200"},
		"a part of a list":       {promised(6), []slurm.QueueEntry{task(101, 4100, 0), task(100, 0, 2, func(j *slurm.QueueEntry) { j.ArrayTasks = "3,5,..." })}, "2 wait, from 4000"},
		"some were cancelled":    {promised(6), []slurm.QueueEntry{task(100, 0, 2)}, "2 wait, from 4000"},
		"the rest was cancelled": {promised(6), []slurm.QueueEntry{task(101, 4100, 0), task(102, 4200, 0)}, "2 nodes since 4200"},
		"too many are held":      {promised(6), []slurm.QueueEntry{task(100, 0, 5), task(104, 0, 1, held)}, "6 wait, from 4000, held"},
		"few are held":           {promised(5), []slurm.QueueEntry{task(100, 0, 5), task(104, 0, 1, held)}, "6 wait, from 4000"},
		"one was moved":          {promised(6), []slurm.QueueEntry{task(100, 0, 5), task(104, 0, 1, moved)}, "6 wait, from 5001"},
		"one is elsewhere":       {promised(6), []slurm.QueueEntry{task(100, 0, 5), task(104, 0, 1, elsewhere)}, "6 wait, from 4000"},
		"the array's own limit":  {promised(6), []slurm.QueueEntry{task(101, 4100, 0), task(100, 0, 5, throttled)}, "5 wait, from 4000"},
		"one was put back":       {promised(2), []slurm.QueueEntry{task(101, 4100, 0), task(102, 0, 1, requeued)}, "1 wait, from 4000"},
	} {
		t.Run(name, func(t *testing.T) {
			got := "none"
			switch j := NewQueue(look.New(c.queue, 4900)).Find(c.promised); {
			case j == nil:
			case j.ID != array || j.Submit != 1000:
				t.Errorf("job %d, submitted at %d", j.ID, j.Submit)
			case j.Start != 0:
				got = fmt.Sprintf("%d nodes since %d", j.Nodes, j.Start)
			default:
				got = fmt.Sprintf("%d wait, from %d", j.Tasks, j.Eligible)
				if j.Held {
					got += ", held"
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// What is done to single tasks of an array is recorded once, whatever order the queue has them in.
func TestObserveTask(t *testing.T) {
	of := func(tasks string, eligible int64, held bool) func(*slurm.QueueEntry) {
		return func(j *slurm.QueueEntry) { j.ArrayTasks, j.Eligible, j.Held = tasks, eligible, held }
	}
	rest := task(100, 0, 4, of("0,3-5", 4000, false))
	const moved = "the begin time of its task 2 was changed to 1970-01-01T01:25:00Z, not by varq; varq leaves the job alone now"
	for name, c := range map[string]struct {
		queue []slurm.QueueEntry
		want  []string
	}{
		"one was moved":           {[]slurm.QueueEntry{rest, task(102, 0, 1, of("2", 5100, false))}, []string{moved}},
		"two were moved":          {[]slurm.QueueEntry{rest, task(101, 0, 1, of("1", 5200, false)), task(102, 0, 1, of("2", 5100, false))}, []string{moved}},
		"one was moved, one held": {[]slurm.QueueEntry{rest, task(101, 0, 1, of("1", 4000, true)), task(102, 0, 1, of("2", 5100, false))}, []string{"held"}},
		"all were moved": {
			[]slurm.QueueEntry{task(100, 0, 5, of("0-1,3-5", 5100, false)), task(102, 0, 1, of("2", 5100, false))},
			[]string{"the begin time was changed to 1970-01-01T01:25:00Z, not by varq; varq leaves the job alone now"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, now := promised(6), int64(1100)
			var got []string
			for range 6 {
				now++
				slices.Reverse(c.queue)
				change := New(e, now, time.UTC)
				change.Observe(NewQueue(look.New(slices.Clone(c.queue), now)).Find(e))
				e.Progress = change.Progress
				for _, event := range change.Events {
					got = append(got, event.Text)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A plan of an array is not that of a single job, and the other way round.
func TestArrayUnlike(t *testing.T) {
	single := promised(6)
	single.Tasks, single.Array = 0, api.Array{}
	job := task(100, 0, 6)
	alone := job
	alone.Array, alone.ArrayJob, alone.Tasks = 0, 0, 0
	larger := task(100, 0, 7)
	of := promised(6)
	of.Nodes, of.CPUs = 1, 1
	for _, c := range []struct {
		e    *ledger.Entry
		j    *slurm.QueueEntry
		want string
	}{{of, &job, ""}, {single, &job, "it is a job array"}, {of, &alone, "it is not a job array"}, {of, &larger, "it has 7 tasks instead of 6"}} {
		if got := Unlike(c.e, &c.j.Job); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What the queue shows of tasks is recorded once, and until as many have started as are promised.
func TestTaskChanges(t *testing.T) {
	e := promised(2, ledger.TaskRun{Job: 101, Start: 4100, Nodes: 1}, ledger.TaskRun{Job: 102, Start: 4200, Nodes: 1}, ledger.TaskRun{Job: 103, Start: 4300, Gone: 4310, Nodes: 1})
	q := NewQueue(look.New([]slurm.QueueEntry{task(101, 4100, 0), task(102, 0, 1), task(104, 4400, 0), task(100, 0, 2)}, 4900))
	said := func() string {
		var list []string
		for _, c := range q.TaskChanges(e) {
			list = append(list, fmt.Sprint(c.Job, " ", c.Start, " ", c.Gone))
		}
		slices.Sort(list)
		return strings.Join(list, ", ")
	}
	if got, want := said(), "102 0 0, 104 4400 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Progress.Start = 4200
	if got, want := said(), "102 0 0"; got != want {
		t.Errorf("once as many have started as are promised: %s, want %s", got, want)
	}
	q = NewQueue(look.New(nil, 4900))
	if got, want := said(), "101 4100 4900, 102 4200 4900"; got != want {
		t.Errorf("gone: %s, want %s", got, want)
	}
}

// late returns a promise of which the queue has shown that a task waited after the deadline.
func late(e *ledger.Entry) *ledger.Entry {
	e.Progress.Late = true
	return e
}

// A promise about an array is judged by the tasks that started first.
func TestJudgeArray(t *testing.T) {
	run := func(id, start, end int64, state workload.State) workload.Job {
		return workload.Job{
			ID: id, Array: array, Submit: 1000, Eligible: 4000, Start: start, End: end, State: state, Comment: api.CommentPrefix + arrayPlan,
			Request: workload.Request{User: "alice", Size: workload.Size{Nodes: 1}},
		}
	}
	const done, off = workload.Completed, workload.Cancelled
	for name, c := range map[string]struct {
		promised *ledger.Entry
		runs     []workload.Job
		want     string
	}{
		"kept":                      {promised(2), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done), run(100, 5900, 6000, done)}, "KEPT, start 4300, end 5600, 2 nodes, 100 s more"},
		"others still wait":         {promised(2), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done), run(100, 0, 0, workload.Pending)}, "KEPT, start 4300, end 5600, 2 nodes, 100 s more"},
		"one still runs":            {promised(2), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 0, workload.Running)}, "not yet"},
		"one still waits":           {promised(2), []workload.Job{run(101, 4100, 5600, done), run(102, 0, 0, workload.Pending)}, "not yet"},
		"one is late":               {promised(2), []workload.Job{run(101, 4100, 5600, done), run(102, 5100, 5500, done)}, "MISSED, start 5100, end 5600, 2 nodes, 450 s more: started 100 s after the deadline"},
		"one was requeued":          {promised(2), []workload.Job{run(101, 4100, 4200, workload.Failed), run(102, 4300, 5500, done), {ID: 101, Submit: 4200, Start: 4400, End: 5700, State: done, Comment: api.CommentPrefix + arrayPlan, Request: workload.Request{User: "alice", Size: workload.Size{Nodes: 1}}}}, "KEPT, start 4400, end 5700, 2 nodes, 50 s more"},
		"one failed before":         {promised(2), []workload.Job{run(101, 4100, 4600, workload.Failed), run(102, 4300, 5500, done)}, "MISSED, start 4100, end 4600, 1 nodes, 0 s more: ended (FAILED) before its work could begin"},
		"one was cancelled waiting": {promised(6), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done), run(100, 0, 4800, off)}, "KEPT, start 4300, end 5600, 2 nodes, 100 s more"},
		"one was cancelled held":    {promised(3, ledger.TaskRun{Job: 103, Start: 4100, Gone: 4500}), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done), run(103, 4100, 4500, off)}, "KEPT, start 4300, end 5600, 2 nodes, 300 s more"},
		"one was forgotten":         {promised(6), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done)}, "KEPT, start 4300, end 5600, 2 nodes, 100 s more"},
		"one was forgotten late":    {late(promised(6)), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done)}, "MISSED, start 0, end 5600, 0 nodes, 0 s more: not started by the deadline"},
		"one is not known yet":      {promised(6), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 8990, done)}, "not yet"},
		"one was cancelled late":    {promised(6), []workload.Job{run(101, 4100, 5600, done), run(102, 4300, 5500, done), run(100, 0, 5800, off)}, "MISSED, start 0, end 5800, 0 nodes, 0 s more: not started by the deadline"},
		"all were cancelled":        {promised(6), []workload.Job{run(100, 0, 3000, off)}, "CANCELLED, start 0, end 3000, 0 nodes, 0 s more: cancelled before the deadline"},
		"one that started is not":   {promised(1, ledger.TaskRun{Job: 102, Start: 4050}), []workload.Job{run(101, 4100, 5600, done)}, "not yet"},
		"another's":                 {promised(1), []workload.Job{{ID: 101, Submit: 1000, Start: 4100, End: 5600, State: done, Request: workload.Request{User: "bob"}}}, "not yet"},
	} {
		t.Run(name, func(t *testing.T) {
			got := "not yet"
			if run, idled := Together(c.promised, c.runs, 9000); run != nil {
				s, why := Judge(c.promised, run, 9000)
				got = fmt.Sprintf("%s, start %d, end %d, %d nodes, %d s more", s.Outcome, s.Start, s.End, s.Nodes, idled)
				if why != "" {
					got += ": " + why
				}
				if s.Run != 1000 || run.ID != array {
					t.Errorf("judged by job %d of %d", run.ID, s.Run)
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A promise about the end of an array is judged by the task that ends last. One that was cancelled
// by then does not count, and one that was stopped at its limit has ended.
func TestJudgeArrayEnd(t *testing.T) {
	ends := func(tasks int32) *ledger.Entry {
		e := promised(tasks)
		e.BeginBy, e.HoldUntil, e.FinishBy, e.Array.Tasks = 0, 0, 6000, tasks
		return e
	}
	run := func(id, start, end int64, state workload.State) workload.Job {
		return workload.Job{
			ID: id, Array: array, Submit: 1000, Eligible: 1000, Start: start, End: end, State: state, Comment: api.CommentPrefix + arrayPlan,
			Request: workload.Request{User: "alice", Size: workload.Size{Nodes: 1}},
		}
	}
	const done, off, stopped = workload.Completed, workload.Cancelled, workload.TimedOut
	evicted := run(102, 4100, 5600, workload.Failed)
	evicted.Evicted = true
	for name, c := range map[string]struct {
		runs []workload.Job
		want string
	}{
		"kept":                                  {[]workload.Job{run(101, 1100, 5900, done), run(102, 4300, 5500, done)}, "KEPT 5900, 2 nodes since 1100"},
		"late":                                  {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 6100, done)}, "MISSED 6100"},
		"one still runs":                        {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 0, workload.Running)}, ""},
		"one still waits":                       {[]workload.Job{run(101, 1100, 1900, done), run(102, 0, 0, workload.Pending)}, ""},
		"one failed":                            {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 5500, workload.Failed)}, "KEPT 5500"},
		"one was stopped":                       {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 5500, stopped)}, "KEPT 5500"},
		"all were stopped":                      {[]workload.Job{run(101, 1100, 1900, stopped), run(102, 4300, 5500, stopped)}, "CANCELLED 5500"},
		"one was cancelled":                     {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 5500, off)}, "KEPT 1900"},
		"all were cancelled":                    {[]workload.Job{run(101, 1100, 1900, off), run(102, 0, 5500, off)}, "CANCELLED 1900"},
		"cancelled too late":                    {[]workload.Job{run(101, 1100, 1900, done), run(102, 0, 6500, off)}, "MISSED 6500"},
		"forgotten":                             {[]workload.Job{run(101, 1100, 1900, done)}, "KEPT 1900"},
		"forgotten late":                        {[]workload.Job{run(101, 1100, 1900, done)}, "MISSED 6001"},
		"all cancelled, and one forgotten late": {[]workload.Job{run(101, 1100, 1900, off), run(102, 1300, 2500, off)}, "MISSED 6001"},
		"cancelled, and one forgotten late":     {[]workload.Job{run(101, 1100, 1900, done), run(102, 4300, 5500, off)}, "MISSED 6001"},
		"one lost its node":                     {[]workload.Job{run(101, 1100, 1900, done), evicted}, "MISSED 5600"},
	} {
		t.Run(name, func(t *testing.T) {
			got, e := "", ends(2)
			if strings.HasSuffix(name, "late") && name != "late" && name != "cancelled too late" {
				e.Progress.Late = true
			}
			if strings.Contains(name, "and one") {
				e.Tasks, e.Array.Tasks = 3, 3
			}
			if run, idled := Together(e, c.runs, 9000); run != nil {
				s, why := Judge(e, run, 9000)
				got = fmt.Sprint(s.Outcome, " ", s.End)
				if name == "kept" {
					got += fmt.Sprintf(", %d nodes since %d", s.Nodes, s.Start)
				}
				if idled != 0 {
					t.Errorf("idled for %d s: %s", idled, why)
				}
			}
			if name == "all were cancelled" && got == "CANCELLED 5500" { // whichever comes first
				got = c.want
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
