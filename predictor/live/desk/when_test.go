package desk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// entry is a job that waits since some seconds before the Epoch.
func entry(id int64, user string, waited int64, change func(*slurm.QueueEntry)) *slurm.QueueEntry {
	j := &slurm.QueueEntry{Reason: "Priority", Job: workload.Job{
		ID: id, Submit: desktest.Epoch - waited, Eligible: desktest.Epoch - waited, State: workload.Pending, Priority: 1000,
		Request: workload.Request{User: user, Account: "phys", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
	}}
	if change != nil {
		change(j)
	}
	return j
}

func (s *site) observe(jobs ...*slurm.QueueEntry) {
	queue := map[int64]*slurm.QueueEntry{}
	for _, j := range jobs {
		queue[j.ID] = j
	}
	s.desk.ObserveQueue(queue)
}

func (s *site) when(user string, q api.WhenQuery) api.When {
	s.T.Helper()
	w, err := s.desk.When(s.T.Context(), user, q)
	if err != nil {
		s.T.Fatal(err)
	}
	return w
}

// A job that is named, and was submitted since the last look at the queue, is told of like others:
// to who may see it.
func TestWhenNew(t *testing.T) {
	s := newSite(t)
	s.observe(entry(1, "alice", 60, nil))
	s.Slurm.Pending[2] = *entry(2, "alice", 0, nil)
	s.Slurm.Pending[3] = *entry(3, "alice", 0, func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks, j.Tasks, j.Array = 3, "0-3", 4, 3 })
	s.Slurm.Pending[4] = *entry(4, "bob", 0, nil)
	s.Slurm.PrivateJobs = true
	s.Refresh()
	w := s.when("alice", api.WhenQuery{Jobs: []int64{1, 2, 4, 5}, ArrayTasks: []api.ArrayTasks{{Array: 3, Tasks: "1"}}, Flow: true})
	var told []string
	for _, j := range w.Jobs {
		told = append(told, fmt.Sprintf("%d %s %v", j.Job, j.Tasks, j.Start != nil))
	}
	if want := []string{"1  true", "2  true", "3 1 true"}; !slices.Equal(told, want) || len(w.Flow.Jobs) != 2 {
		t.Errorf("%q, want %q; %+v", told, want, w.Flow.Jobs)
	}
}

// TestWhen: jobs are told of in Slurm's order, with how many go before them, and from when on each
// is forecast. Of what keeps a job that no forecast knows of, it is said what that is.
func TestWhen(t *testing.T) {
	s := newSite(t)
	s.Outlook.RunTime = 600
	s.Slurm.Short = 7200
	s.Refresh()
	const epoch = desktest.Epoch
	s.observe(
		entry(1, "alice", 60, nil),
		entry(2, "bob", 30, func(j *slurm.QueueEntry) { j.Priority = 2000 }),
		entry(3, "alice", 300, func(j *slurm.QueueEntry) { j.Priority, j.Expected = 3000, epoch+120 }),
		entry(4, "alice", 300, func(j *slurm.QueueEntry) { j.Held = true }),
		entry(5, "alice", 300, func(j *slurm.QueueEntry) { j.Dependency, j.Eligible = "afterok:1(unfulfilled)", 0 }),
		entry(6, "alice", -7200, func(j *slurm.QueueEntry) { j.Reason = "BeginTime" }),
		entry(7, "alice", 300, func(j *slurm.QueueEntry) { j.Start, j.State = epoch-10, workload.Running }),
		entry(8, "alice", 300, func(j *slurm.QueueEntry) { j.Limit = 9 * 86400 }),
		entry(9, "alice", 300, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.ArrayTasks, j.Tasks, j.Array, j.AtOnce = 9, "0-3", 4, 9, 2
		}),
		entry(11, "alice", 300, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.ArrayTasks, j.Tasks, j.AtOnce, j.Reason = 11, "4-9", 6, 4, "JobArrayTaskLimit"
		}),
		entry(10, "alice", 300, func(j *slurm.QueueEntry) { j.AtLimit, j.Reason = true, "AssocGrpCpuLimit" }),
	)
	w := s.when("alice", api.WhenQuery{})
	var ids []int64
	told := map[int64]api.Waiting{}
	for _, j := range w.Jobs {
		ids = append(ids, j.Job)
		told[j.Job] = j
	}
	if want := []int64{3, 1, 8, 9, 6, 5, 11, 4, 10}; !slices.Equal(ids, want) {
		t.Errorf("told of %v, want %v", ids, want)
	}
	for id, want := range map[int64]string{
		4: "its user holds it", 8: "(MaxTime)", 10: "a limit on what its user or account may have at once keeps it (AssocGrpCpuLimit)",
	} {
		if j := told[id]; !strings.Contains(j.Unknown, want) || j.Start != nil || j.By != nil {
			t.Errorf("job %d: %+v", id, j)
		}
	}
	// ten minutes in all, of which five are over
	first, last, later := told[3], told[9], told[6]
	if first.Unknown != "" || first.Start == nil || first.Expected != epoch+120 || first.Ahead != 0 {
		t.Errorf("%+v", first)
	}
	if last.Ahead != 4 || last.AheadNodes != 3*3600+9*86400 {
		t.Errorf("%d jobs are ahead with %d node-seconds", last.Ahead, last.AheadNodes)
	}
	if later.Start == nil || later.Start.Median < epoch+7200 || later.By[0].Prob != 0 {
		t.Errorf("a job that begins later: %+v", later)
	}
	if a := told[9]; a.Tasks != "0-3" || a.End == nil || a.End.Median-epoch <= first.End.Median-epoch {
		t.Errorf("an array: %+v, one job %+v", a.End, first.End)
	}
	if w := s.when("bob", api.WhenQuery{}); len(w.Jobs) != 1 || w.Jobs[0].Job != 2 || w.Jobs[0].Ahead != 1 {
		t.Errorf("bob is told of %+v", w.Jobs)
	}
	if w := s.when("bob", api.WhenQuery{Jobs: []int64{1, 7}}); len(w.Jobs) != 1 || w.Jobs[0].User != "alice" {
		t.Errorf("bob is told of %+v", w.Jobs)
	}
	if w := s.when("bob", api.WhenQuery{User: api.Everybody, Partitions: []string{"short"}}); len(w.Jobs) != 0 {
		t.Errorf("in another partition: %+v", w.Jobs)
	}
	s.Slurm.PrivateJobs = true
	s.Refresh()
	for _, q := range []api.WhenQuery{{Jobs: []int64{1}}, {User: "alice"}} {
		if w := s.when("bob", q); len(w.Jobs) != 0 {
			t.Errorf("bob is told of %+v, which are private", w.Jobs)
		}
	}
	if w := s.when("bob", api.WhenQuery{User: api.Everybody}); len(w.Jobs) != 1 {
		t.Errorf("bob is told of %+v", w.Jobs)
	}
}

// Of tasks of an array it is told when these start, which come after the tasks before them.
func TestWhenTasks(t *testing.T) {
	s := newSite(t)
	s.Outlook.RunTime = 600
	const epoch = desktest.Epoch
	array := func(id int64, tasks string, change func(*slurm.QueueEntry)) *slurm.QueueEntry {
		return entry(id, "alice", 300, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.ArrayTasks, j.Expected = 22, tasks, epoch+120
			j.Tasks, j.AtOnce = slurm.CountTasks(tasks)
			if change != nil {
				change(j)
			}
		})
	}
	s.observe(
		array(22, "3-9%2", nil),
		array(23, "2", func(j *slurm.QueueEntry) { j.Priority = 2000 }),
		array(24, "1", func(j *slurm.QueueEntry) { j.Start, j.State = epoch-10, workload.Running }),
		entry(25, "alice", 300, nil),
	)
	ask := func(tasks ...string) (told []api.Waiting) {
		q := api.WhenQuery{}
		for _, list := range tasks {
			q.ArrayTasks = append(q.ArrayTasks, api.ArrayTasks{Array: 22, Tasks: list})
		}
		return s.when("alice", q).Jobs
	}
	first := ask("3")[0]
	all := s.when("alice", api.WhenQuery{Jobs: []int64{22}}).Jobs[1]
	if first.Tasks != "3" || first.Ahead != 1 || first.Expected != epoch+120 || *first.Start != *all.Start || first.End.Median >= all.End.Median {
		t.Errorf("the first task: %+v, start %+v, end %+v; all: start %+v, end %+v", first, first.Start, first.End, all.Start, all.End)
	}
	sixth := ask("6")[0]
	if sixth.Job != 22 || sixth.Tasks != "6" || sixth.Ahead != 4 || sixth.AheadNodes != 4*3600 || sixth.Expected != 0 {
		t.Errorf("%+v", sixth)
	}
	// three tasks come before it, and the first two have to end, whose nodes it has without a wait
	if sixth.Start.Median < first.End.Median || sixth.End.Median-sixth.Start.Median != s.Outlook.RunTime || sixth.By[0].Prob >= first.By[0].Prob {
		t.Errorf("start %+v, end %+v, by %+v, the first task %+v", sixth.Start, sixth.End, sixth.By, first.End)
	}
	if some := ask("5-7"); len(some) != 1 || some[0].Tasks != "5-7" || some[0].Start.Median != sixth.Start.Median || some[0].End.Median <= sixth.End.Median {
		t.Errorf("some tasks: %+v", some)
	}
	if two := ask("9", "2-3"); len(two) != 3 || two[0].Job != 23 || two[0].Tasks != "2" || two[1].Tasks != "9" || two[2].Tasks != "3" {
		t.Errorf("two lists: %+v", two)
	}
	if none := ask("1", "10"); len(none) != 0 {
		t.Errorf("tasks that do not wait: %+v", none)
	}
}

// The tasks of an array that lets no more of them run come in the place of those that end, one by
// one. The oracle gives each task the place that is free first.
func TestWhenFull(t *testing.T) {
	const epoch, run = desktest.Epoch, 600
	for _, c := range []struct {
		running []int64 // for how many seconds each has run
		n       int     // how many wait
	}{{[]int64{10, 300}, 4}, {[]int64{10, 300}, 3}, {[]int64{10, 300}, 1}, {[]int64{599}, 5}, {[]int64{1, 2, 3, 500, 550}, 13}} {
		s := newSite(t)
		s.Outlook.RunTime, s.Outlook.Delay = run, 0
		k := len(c.running)
		jobs := []*slurm.QueueEntry{entry(22, "alice", 300, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.Reason, j.Eligible = 22, "JobArrayTaskLimit", 0
			j.ArrayTasks = fmt.Sprintf("%d-%d%%%d", k, k+c.n-1, k)
			j.Tasks, j.AtOnce = slurm.CountTasks(j.ArrayTasks)
		})}
		var free []int64
		for i, age := range c.running {
			free = append(free, epoch+run-age)
			jobs = append(jobs, entry(int64(100+i), "alice", 300, func(j *slurm.QueueEntry) {
				j.ArrayJob, j.ArrayTasks, j.Start, j.State = 22, strconv.Itoa(i), epoch-age, workload.Running
			}))
		}
		s.observe(jobs...)
		end := int64(0)
		for task := range c.n {
			slices.Sort(free)
			start := free[0]
			free[0] += run
			end = max(end, free[0])
			w := s.when("alice", api.WhenQuery{ArrayTasks: []api.ArrayTasks{{Array: 22, Tasks: strconv.Itoa(k + task)}}}).Jobs
			if len(w) != 1 || w[0].Start == nil || w[0].Start.Median != start || w[0].Start.Late != start {
				t.Fatalf("%v: task %d: %+v, want a start %d s from now", c, task, w, start-epoch)
			}
			if ended := w[0].End.Median; ended != start+run {
				t.Errorf("%v: task %d ends after %d s, want %d", c, task, ended-epoch, start+run-epoch)
			}
		}
		w := s.when("alice", api.WhenQuery{Jobs: []int64{22}}).Jobs[0]
		if w.Start.Median != epoch+run-slices.Max(c.running) || w.End.Median != end || len(w.Why) == 0 || !strings.Contains(w.Why[0], fmt.Sprintf("(%d)", k)) {
			t.Errorf("%v: in all %+v", c, w)
		}
	}
}

// Of a job that may run in several partitions it is told how many jobs go before it in the first:
// those that may run there, in the order that holds there.
func TestWhenPartitions(t *testing.T) {
	s := newSite(t)
	s.Slurm.Short = 7200
	s.Refresh()
	partitions := s.Premises.Limits().Partitions
	short := partitions["short"]
	short.Tier = 10
	partitions["short"] = short
	in := func(partition string, priority int64) func(*slurm.QueueEntry) {
		return func(j *slurm.QueueEntry) { j.Partition, j.Priority = partition, priority }
	}
	s.observe(
		entry(1, "alice", 60, in("main,short", 1000)),
		entry(2, "bob", 60, in("short,main", 2000)),
		entry(3, "bob", 60, in("short,main", 500)),
		entry(4, "bob", 60, in("main", 1500)),
		entry(5, "bob", 60, in("short", 3000)),
		entry(6, "alice", 60, in("short,main", 2500)),
		entry(7, "bob", 60, in("main,short", 2800)),
	)
	told := map[int64]api.Waiting{}
	for _, w := range s.when("alice", api.WhenQuery{}).Jobs {
		told[w.Job] = w
	}
	if w := told[1]; w.About != "main" || w.Partition != "main,short" || w.Ahead != 4 {
		t.Errorf("%d jobs are ahead in %s", w.Ahead, w.About)
	}
	if w := told[6]; w.About != "short" || w.Ahead != 2 {
		t.Errorf("%d jobs are ahead in %s", w.Ahead, w.About)
	}
}

// TestWhenPromised: of a job with a promise, it is told.
func TestWhenPromised(t *testing.T) {
	s := newSite(t)
	a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
	if err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := s.Ledger.Bind(t.Context(), a.Plan.ID, "alice", 7, desktest.Epoch, desktest.Epoch, false); err != nil {
		t.Fatal(err)
	}
	s.observe(entry(7, "alice", 60, func(j *slurm.QueueEntry) { j.Comment = a.Plan.Comment }))
	if j := s.when("bob", api.WhenQuery{Jobs: []int64{7}}).Jobs[0]; j.Plan != "" || j.Prob != 0 || j.BeginBy != 0 {
		t.Errorf("bob is told of alice's promise: %+v", j)
	}
	if j := s.when("alice", api.WhenQuery{}).Jobs[0]; j.Plan != a.Plan.ID || j.Prob != .9 || j.BeginBy != desktest.Epoch+7200 {
		t.Errorf("%+v", j)
	}
}

// Work that is held ends after that. It does not end at all if its user has left no time for it.
func TestWhenHeld(t *testing.T) {
	s := learnt(t, 150)
	req := api.PlanRequest{BeginBy: desktest.Epoch + 4*3600, Prob: .5, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}}
	a, err := s.desk.Plan(t.Context(), "alice", &req, true)
	if err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := s.Ledger.Bind(t.Context(), a.Plan.ID, "alice", 7, desktest.Epoch, desktest.Epoch, false); err != nil {
		t.Fatal(err)
	}
	for limit, done := range map[int64]bool{a.Plan.TimeLimit: true, 60: false} {
		s.observe(entry(7, "alice", 60, func(j *slurm.QueueEntry) {
			j.Comment, j.Limit, j.Size = a.Plan.Comment, limit, workload.Size{Nodes: 1, CPUs: 1}
		}))
		j := s.when("alice", api.WhenQuery{}).Jobs[0]
		if j.Start == nil || j.Start.Median >= a.Plan.HoldUntil || done != (j.End.Median > a.Plan.HoldUntil) || !done && j.End.Median != 0 {
			t.Errorf("limit %d: start %+v, end %+v, held until %d: %s", limit, j.Start, j.End, a.Plan.HoldUntil, j.Unknown)
		}
	}
	// so does that of an array, whose tasks run in several rounds
	s.observe(entry(7, "alice", 60, func(j *slurm.QueueEntry) {
		j.Comment, j.Limit, j.Size = a.Plan.Comment, a.Plan.TimeLimit, workload.Size{Nodes: 1, CPUs: 1}
		j.ArrayJob, j.ArrayTasks, j.Tasks, j.AtOnce = 7, "0-5", 6, 2
	}))
	for _, task := range []string{"0", "5"} {
		j := s.when("alice", api.WhenQuery{ArrayTasks: []api.ArrayTasks{{Array: 7, Tasks: task}}}).Jobs[0]
		if j.Start == nil || j.End.Median != 0 && j.End.Median <= a.Plan.HoldUntil {
			t.Errorf("task %s: start %+v, end %+v, held until %d: %s", task, j.Start, j.End, a.Plan.HoldUntil, j.Unknown)
		}
	}
}

// A flow ends as late as the work of its jobs that is held, whether they wait or have their nodes.
func TestFlowHeld(t *testing.T) {
	s := learnt(t, 150)
	req := api.PlanRequest{BeginBy: desktest.Epoch + 4*3600, Prob: .9, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}}
	a, err := s.desk.Plan(t.Context(), "alice", &req, true)
	if err != nil || a.Plan == nil || a.Plan.BeginTime >= a.Plan.HoldUntil {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := s.Ledger.Bind(t.Context(), a.Plan.ID, "alice", 7, desktest.Epoch, desktest.Epoch, false); err != nil {
		t.Fatal(err)
	}
	s.observe(entry(7, "alice", 60, func(j *slurm.QueueEntry) {
		j.Comment, j.Limit, j.Eligible, j.Size = a.Plan.Comment, a.Plan.TimeLimit, a.Plan.BeginTime, workload.Size{Nodes: 1, CPUs: 1}
	}), behind(8, "afterany:7(unfulfilled)", nil))
	w := s.when("alice", api.WhenQuery{Jobs: []int64{8}, Flow: true})
	for _, j := range w.Flow.Jobs {
		if j.End == nil || j.End.Median <= req.BeginBy {
			t.Errorf("job %d: %+v", j.Job, j.End)
		}
	}
	if j := w.Jobs[0]; j.Start.Median <= req.BeginBy {
		t.Errorf("%+v", j.Start)
	}
}

// What is promised to a job that waits takes no room from others that wait, until it has started.
func TestWhenBesidePromised(t *testing.T) {
	s := newSite(t)
	s.observe(entry(1, "bob", 60, nil))
	alone := *s.when("bob", api.WhenQuery{}).Jobs[0].Start
	a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
	if err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	s.Outlook.Rooms = 1
	claims, err := s.Ledger.Claims(t.Context(), desktest.Epoch)
	if err != nil || len(claims) != 1 {
		t.Fatalf("%+v, %v", claims, err)
	}
	s.Outlook.Rooms = 1
	for _, runs := range []bool{false, true} {
		claims[0].Runs = runs
		s.desk.ObserveRunning(slices.Clone(claims))
		if beside := *s.when("bob", api.WhenQuery{}).Jobs[0].Start; (beside != alone) != runs {
			t.Errorf("it runs: %v: %+v, and alone %+v", runs, beside, alone)
		}
	}
}

// TestWhenMany: an answer has so many jobs, and tells how many more there are.
func TestWhenMany(t *testing.T) {
	s := newSite(t)
	var jobs []*slurm.QueueEntry
	for i := range int64(api.MostWhen + 5) {
		jobs = append(jobs, entry(i+1, "alice", 1000-i, nil))
	}
	s.observe(jobs...)
	if w := s.when("alice", api.WhenQuery{}); len(w.Jobs) > api.MostWhen || len(w.Jobs)+w.More != api.MostWhen+5 || w.Jobs[0].Job != 1 {
		t.Errorf("%d jobs and %d more", len(w.Jobs), w.More)
	}
}

// TestTimes: an hour from now, midnight and eight o'clock, in the site's zone.
func TestTimes(t *testing.T) {
	zone := time.FixedZone("east", 5*3600)
	now := time.Date(2027, 1, 15, 23, 30, 0, 0, zone).Unix()
	for i, at := range times(now, zone) {
		if want := []string{"16 00:30", "16 00:00", "16 08:00"}[i]; time.Unix(at, 0).In(zone).Format("02 15:04") != want {
			t.Errorf("%s, want %s", time.Unix(at, 0).In(zone), want)
		}
	}
}

// Forecasters are never asked as of a time to come, also not about a job that begins later: what
// they know of the present would change.
func TestWhenAsksOfThePresent(t *testing.T) {
	s := newSite(t)
	s.observe(entry(1, "alice", -7200, func(j *slurm.QueueEntry) { j.Reason = "BeginTime" }))
	w := s.when("alice", api.WhenQuery{})
	if len(w.Jobs) != 1 || w.Jobs[0].Start == nil || w.Jobs[0].Start.Median < desktest.Epoch+7200 || s.Outlook.Latest != desktest.Epoch {
		t.Errorf("%+v, asked as of %d", w, s.Outlook.Latest-desktest.Epoch)
	}
}

// A partition that does not exist is no selection of nothing.
func TestWhenNoPartition(t *testing.T) {
	s := newSite(t)
	s.observe(entry(1, "alice", 60, nil))
	if _, err := s.desk.When(t.Context(), "alice", api.WhenQuery{Partitions: []string{"main", "nope"}}); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Error(err)
	}
}

// A job that is told of alone tells which jobs have nodes of its partition, and which of them has
// to end first: by name, if it may be seen.
func TestWhenNodesAreHeld(t *testing.T) {
	s := newSite(t)
	nodes := s.Premises.Limits().Partitions["main"].Nodes
	runs := func(id, left int64, change func(*slurm.QueueEntry), on ...string) *slurm.QueueEntry {
		return entry(id, "bob", 300, func(j *slurm.QueueEntry) {
			j.State, j.Start, j.On = workload.Running, desktest.Epoch+left-j.Limit, on
			if change != nil {
				change(j)
			}
		})
	}
	s.observe(
		entry(1, "alice", 60, nil),
		runs(2, 1800, nil, nodes[0]),
		runs(3, 1200, nil, nodes[0], nodes[1]),
		runs(4, 60, nil, "elsewhere"),
		runs(5, 0, func(j *slurm.QueueEntry) { j.Limit = slurm.UnlimitedTime }, nodes[2]),
		runs(6, 30, func(j *slurm.QueueEntry) { j.Suspended = true }, nodes[2]),
	)
	want := api.Holders{Jobs: 4, Nodes: 3, Of: len(nodes), Until: desktest.Epoch + 1200, First: 3}
	if got := s.when("alice", api.WhenQuery{}).Jobs[0].Holders; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Slurm.PrivateJobs = true
	s.Refresh()
	want.First = 0
	if got := s.when("alice", api.WhenQuery{}).Jobs[0].Holders; got == nil || *got != want {
		t.Errorf("jobs are private: %+v, want %+v", got, want)
	}
}

// A job whose user has given it fewer nodes is forecast, though Slurm tells of as much memory as
// before.
func TestWhenOfFewerNodes(t *testing.T) {
	s := newSite(t)
	c := s.Premises.Limits()
	for name, n := range c.Nodes {
		n.Memory = 4000
		c.Nodes[name] = n
	}
	s.observe(entry(1, "alice", 0, func(j *slurm.QueueEntry) { j.Nodes, j.Memory = 1, 16_000 }))
	if j := s.when("alice", api.WhenQuery{}).Jobs[0]; j.Start == nil {
		t.Errorf("%s", j.Unknown)
	}
}

// A job that waits for its begin time has to do with the room that jobs leave which were promised
// their nodes before that.
func TestWhenBehindPromises(t *testing.T) {
	s := newSite(t)
	if a, err := s.desk.Plan(t.Context(), "bob", desktest.Request(desktest.Epoch+7200), true); err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	s.Outlook.Rooms = 1 // beside a claim there is none
	begins := func(id, at int64) *slurm.QueueEntry {
		return entry(id, "alice", 0, func(j *slurm.QueueEntry) { j.Eligible, j.Reason = desktest.Epoch+at, "BeginTime" })
	}
	s.observe(entry(1, "alice", 0, nil), begins(2, 60), begins(3, 8000))
	for _, j := range s.when("alice", api.WhenQuery{}).Jobs {
		if starts := j.Start != nil && j.Start.Median != 0; starts != (j.Job != 3) {
			t.Errorf("job %d: %+v", j.Job, j.Start)
		}
	}
}
