package desk

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// behind is a job that waits for others.
func behind(id int64, on string, change func(*slurm.QueueEntry)) *slurm.QueueEntry {
	return entry(id, "alice", 0, func(j *slurm.QueueEntry) {
		j.Dependency, j.Eligible, j.Reason = on, 0, "Dependency"
		if change != nil {
			change(j)
		}
	})
}

// Jobs wait for ten minutes, and run for half an hour. What is told of one that waits for others
// follows from what is told of these.
func TestWhenBehindOthers(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime, s.Outlook.Fails = 600, 1800, .2
	// exact is by how many seconds two waits are off at most, which are known on a grid only
	const epoch, exact = desktest.Epoch, 60
	runs := func(id int64, since int64) *slurm.QueueEntry {
		return entry(id, "alice", 0, func(j *slurm.QueueEntry) { j.State, j.Start = workload.Running, epoch-since })
	}
	array := func(id int64, tasks string, since int64) *slurm.QueueEntry {
		return entry(id, "bob", 0, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.ArrayTasks = 40, tasks
			if since != 0 {
				j.State, j.Start = workload.Running, epoch-since
			}
		})
	}
	s.observe(
		runs(1, 900), entry(2, "alice", 0, nil), array(40, "3", 0), array(41, "0", 1200), array(42, "1", 600),
		entry(3, "alice", 0, func(j *slurm.QueueEntry) { j.Held = true }),
		entry(4, "alice", 0, func(j *slurm.QueueEntry) { j.State, j.Start, j.Suspended = workload.Running, epoch-60, true }),
		behind(10, "afterany:1(unfulfilled)", nil),
		behind(11, "afterok:1(unfulfilled),afterany:2(unfulfilled)", nil),
		behind(12, "afterany:1(unfulfilled)?afterany:2(unfulfilled)", nil),
		behind(13, "after:1+20(unfulfilled)", nil),
		behind(14, "afterany:10(unfulfilled)", nil),
		behind(15, "afterany:40_*(unfulfilled)", nil),
		behind(16, "afterany:40_0(unfulfilled)", nil),
		behind(17, "singleton(unfulfilled)", nil),
		behind(18, "afterok:10(unfulfilled),afterok:1(unfulfilled)", nil),
		behind(20, "afterok:999(unfulfilled)", nil),
		behind(21, "afterany:3(unfulfilled)", nil),
		behind(22, "afterany:4(unfulfilled)", nil),
		behind(23, "afterok:1(failed)", nil),
		behind(24, "afterok:x", nil),
		behind(25, "afterany:25(unfulfilled)", nil),
		behind(26, "afterany:3(unfulfilled)?afterany:1(unfulfilled)", nil),
		behind(27, "afterany:21(unfulfilled)", nil), behind(28, "afterany:27(unfulfilled)", nil),
	)
	told := map[int64]api.Waiting{}
	for _, j := range s.when("alice", api.WhenQuery{}).Jobs {
		told[j.Job] = j
	}
	for id, want := range map[int64]struct {
		start int64 // median, after now
		lost  float64
		after int // how many jobs
	}{
		10: {900 + 600, 0, 1}, 11: {600 + 1800 + 600, .2, 2}, 12: {900 + 600, 0, 2}, 13: {300 + 600, 0, 1}, 14: {900 + 600 + 1800 + 600, 0, 1},
		15: {600 + 1800 + 600, 0, 3}, 16: {600 + 600, 0, 1}, 18: {900 + 600 + 1800 + 600, .29, 2}, 20: {600, 0, 0}, 26: {900 + 600, 0, 1},
	} {
		j := told[id]
		if j.Unknown != "" || j.Start == nil || math.Abs(float64(j.Start.Median-epoch-want.start)) > exact || math.Abs(j.Lost-want.lost) > .03 || len(j.After) != want.after {
			t.Errorf("job %d starts %+v, lost %v, after %+v: %s", id, j.Start, j.Lost, j.After, j.Unknown)
			continue
		}
		if math.Abs(float64(j.Start.Median-j.Eligible.Median-600)) > exact || j.End.Median != j.Start.Median+1800 {
			t.Errorf("job %d: %+v, %+v, %+v", id, j.Eligible, j.Start, j.End)
		}
	}
	for id, want := range map[int64]string{
		21: "it waits for job 3, of which nothing is forecast: its user holds it", 22: "it waits for job 4, of which nothing is forecast: it is suspended",
		23: "it never starts", 24: "its dependency is not understood", 25: "it waits for itself",
		27: "it waits, by way of others, for job 3, of which nothing is forecast: its user holds it",
		28: "it waits, by way of others, for job 3, of which nothing is forecast: its user holds it",
	} {
		if j := told[id]; !strings.Contains(j.Unknown, want) || j.Start != nil || j.By != nil || j.After != nil {
			t.Errorf("job %d: %+v", id, j)
		}
	}
	// the same whatever else is asked about
	if alone := s.when("alice", api.WhenQuery{Jobs: []int64{18}}).Jobs[0]; *alone.Start != *told[18].Start || alone.Lost != told[18].Lost {
		t.Errorf("%+v, and among others %+v", alone, told[18])
	}
}

// A start is promised of a job that waits for others by when these have ended, and by how probable
// it is that they do what it needs.
func TestPlanBehindOthers(t *testing.T) {
	s := newSite(t)
	const epoch = desktest.Epoch
	s.Outlook.Delay, s.Outlook.RunTime = 600, 3600
	s.observe(
		entry(1, "alice", 0, func(j *slurm.QueueEntry) { j.State, j.Start = workload.Running, epoch-1800 }),
		entry(2, "bob", 0, func(j *slurm.QueueEntry) { j.State, j.Start = workload.Running, epoch-1800 }),
		entry(3, "alice", 0, func(j *slurm.QueueEntry) { j.Held = true }),
	)
	plan := func(on string, change func(*api.PlanRequest)) api.PlanAnswer {
		t.Helper()
		req := desktest.Request(epoch + 7200)
		req.BestEffort, req.Dependency = true, on
		if change != nil {
			change(req)
		}
		a, err := s.desk.Plan(t.Context(), "alice", req, true)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	// job 1 ends in half an hour
	for by, want := range map[int64]bool{1800 + 660: true, 1800 + 300: false} {
		if a := plan("afterok:1", func(r *api.PlanRequest) { r.BeginBy = epoch + by }); (a.Plan != nil) != want {
			t.Errorf("by %d s: %+v", by, a.Refusal)
		} else if want && (a.Eligible == nil || a.Eligible.Median != epoch+1800 || a.Plan.BeginTime != epoch) {
			t.Errorf("by %d s: %+v, %+v", by, a.Eligible, a.Plan)
		}
	}
	end := func(by int64) func(*api.PlanRequest) {
		return func(r *api.PlanRequest) { r.BestEffort, r.BeginBy, r.FinishBy = false, 0, epoch+by }
	}
	for by, want := range map[int64]bool{1800 + 600 + 3600 + 300: true, 1800 + 3600: false} {
		if a := plan("afterany:1", end(by)); (a.Plan != nil) != want {
			t.Errorf("an end by %d s: %+v", by, a.Refusal)
		}
	}
	// what is over, or not known, keeps nothing
	if a := plan("afterok:99", func(r *api.PlanRequest) { r.BeginBy = epoch + 660 }); a.Plan == nil || a.Eligible != nil {
		t.Errorf("%+v", a)
	}
	if a := plan("afterany:3", nil); a.Plan != nil || !strings.Contains(a.Refusal.Reason, "it waits for job 3, of which nothing is forecast: its user holds it") {
		t.Errorf("%+v", a.Refusal)
	}
	// job 50 was submitted after the look: Slurm is asked, and its wait and its run count
	s.Slurm.Pending[50] = *entry(50, "alice", 0, nil)
	for by, want := range map[int64]bool{600 + 3600 + 660: true, 3600: false} {
		if a := plan("afterok:50", func(r *api.PlanRequest) { r.BeginBy = epoch + by }); (a.Plan != nil) != want {
			t.Errorf("after a new job by %d s: %+v", by, a)
		}
	}
	s.Slurm.Down = errors.New("down")
	if _, err := s.desk.Plan(t.Context(), "alice", &api.PlanRequest{BeginBy: epoch + 7200, Dependency: "afterok:50"}, true); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("Slurm is down: %v", err)
	}
	s.Slurm.Down = nil
	// every fifth fails
	s.Outlook.Fails = .2
	for prob, want := range map[float64]bool{.7: true, .85: false} {
		if a := plan("afterok:1", func(r *api.PlanRequest) { r.Prob = prob }); (a.Plan != nil) != want {
			t.Errorf("with probability %v: %+v", prob, a)
		}
		if a := plan("afterok:1", func(r *api.PlanRequest) { end(3 * 7200)(r); r.Prob = prob }); (a.Plan != nil) != want {
			t.Errorf("an end with probability %v: %+v", prob, a)
		}
	}
	s.Slurm.PrivateJobs = true
	s.Refresh()
	if a := plan("afterany:2", nil); a.Plan != nil || !strings.Contains(a.Refusal.Reason, "job 2 is not yours to see") {
		t.Errorf("%+v", a)
	}
	if _, err := s.desk.Plan(t.Context(), "alice", &api.PlanRequest{BeginBy: epoch + 7200, Dependency: "afterok:x"}, true); err == nil {
		t.Error("no error")
	}
}

// A flow is some jobs with all that they wait for and that waits for them. It ends with the last.
func TestFlow(t *testing.T) {
	s := newSite(t)
	const epoch = desktest.Epoch
	s.Outlook.Delay, s.Outlook.RunTime = 0, 3600
	s.observe(
		entry(1, "alice", 0, func(j *slurm.QueueEntry) { j.State, j.Start = workload.Running, epoch-1800 }),
		behind(2, "afterok:1", nil), behind(3, "afterok:1", func(j *slurm.QueueEntry) { j.Limit = 600 }), behind(4, "afterok:2:3", nil),
		entry(5, "alice", 0, nil), behind(6, "afterany:5", nil),
		behind(7, "afterany:8", nil), entry(8, "alice", 0, func(j *slurm.QueueEntry) { j.Held = true }),
		entry(9, "bob", 0, nil), behind(10, "afterany:9", nil),
	)
	flow := func(user string, jobs ...int64) *api.Flow {
		return s.when(user, api.WhenQuery{Jobs: jobs, Flow: true}).Flow
	}
	for _, from := range []int64{1, 2, 4} {
		got := flow("alice", from)
		var ids []int64
		for _, j := range got.Jobs {
			ids = append(ids, j.Job)
		}
		want := map[int64][]int64{1: {1, 2, 3, 4}, 2: {1, 2, 4}, 4: {1, 2, 3, 4}}[from]
		if !slices.Equal(ids, want) || got.End == nil || got.End.Median != epoch+1800+2*3600 || got.Unknown != "" || got.Jobs[0].Critical != 1 || !got.Jobs[0].Runs || got.Jobs[0].Start.Median != epoch-1800 {
			t.Errorf("from job %d: %v, end %+v: %+v", from, ids, got.End, got)
		}
	}
	if got := flow("alice", 7); len(got.Jobs) != 2 || got.End != nil || got.Unknown != "of job 7 nothing is forecast: it waits for job 8, of which nothing is forecast: its user holds it ('scontrol release' lets it go)" {
		t.Errorf("%+v", got)
	}
	if got := flow("alice", 99); len(got.Jobs) != 0 || got.End != nil {
		t.Errorf("%+v", got)
	}
	s.Slurm.PrivateJobs = true
	s.Refresh()
	if got := flow("alice", 10); len(got.Jobs) != 1 || got.Jobs[0].Job != 10 {
		t.Errorf("bob's job is told of: %+v", got)
	}
}

// Of a job that she may not see, and of what follows from it, a user is told nothing but that hers
// waits for it, as Slurm tells. It is as if there were no job of that number.
func TestWhenBehindPrivate(t *testing.T) {
	s := newSite(t)
	s.Slurm.PrivateJobs = true
	s.Refresh()
	s.observe(
		entry(1, "bob", 0, func(j *slurm.QueueEntry) { j.Held = true }), entry(2, "alice", 0, nil),
		behind(3, "afterany:1(unfulfilled),afterany:2(unfulfilled)", nil), behind(4, "afterok:3(unfulfilled)", nil),
	)
	for _, j := range s.when("alice", api.WhenQuery{}).Jobs {
		const hidden = "job 1, of which nothing is forecast: it is not yours to see"
		if want := map[int64]string{3: "it waits for " + hidden, 4: "it waits, by way of others, for " + hidden}[j.Job]; j.Unknown != want || (j.Start == nil) != (want != "") {
			t.Errorf("%+v", j)
		}
	}
	if f := s.when("alice", api.WhenQuery{Jobs: []int64{1}, Flow: true}).Flow; len(f.Jobs) != 0 {
		t.Errorf("%+v", f)
	}
	_, err := Flows{s.desk}.Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{1}, FinishBy: desktest.Epoch + 86400})
	if !errors.Is(err, api.ErrNotFound) {
		t.Error(err)
	}
	if a, err := (Flows{s.desk}).Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{3}, FinishBy: desktest.Epoch + 86400}); err != nil || a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "not yours to see") {
		t.Errorf("%+v, %v", a, err)
	}
}

// A dependency on a job that has ended already, and not as it needs, is refused.
func TestNeverAfterEnded(t *testing.T) {
	s := newSite(t)
	s.observe()
	s.Slurm.Gone = map[int64]workload.Job{
		8: {ID: 8, State: workload.Completed, End: desktest.Epoch - 5},
		9: {ID: 9, State: workload.Failed, End: desktest.Epoch - 5},
	}
	for on, want := range map[string]string{
		"afterok:9":                       "this job would never start: job 9 has ended already (FAILED), and not with exit code 0 (--dependency=afterok:9)",
		"afternotok:8":                    "this job would never start: job 8 has ended already, with exit code 0 (--dependency=afternotok:8)",
		"afterany:9,afterok:8,afterok:99": "",
		"afterok:9?afterany:8":            "",
	} {
		r := desktest.Request(desktest.Epoch + 7200)
		r.BestEffort, r.Dependency = true, on
		a, err := s.desk.Plan(t.Context(), "alice", r, true)
		if err != nil || (a.Refusal == nil) != (want == "") || a.Refusal != nil && a.Refusal.Reason != want {
			t.Errorf("%s: %+v, %v", on, a.Refusal, err)
		}
	}
}

// Jobs that wait for a job of which only the newest of them is named count, though none has been
// seen.
func TestNewBehindNew(t *testing.T) {
	s := newSite(t)
	s.observe()
	s.Outlook.RunTime = 60
	s.Slurm.Pending[1] = *entry(1, "alice", -5*3600, func(j *slurm.QueueEntry) { j.Reason = "BeginTime" })
	s.Slurm.Pending[2] = *behind(2, "afterany:1(unfulfilled)", nil)
	s.Slurm.Pending[3] = *behind(3, "afterok:2(unfulfilled)", nil)
	by := int64(desktest.Epoch + 2*3600)
	if a, err := (Flows{s.desk}).Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{3}, FinishBy: by, Prob: .5}); err != nil || a.Refusal == nil || len(a.Flow.Jobs) != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	r := desktest.Request(by)
	r.BestEffort, r.Dependency = true, "afterany:3"
	if a, err := s.desk.Plan(t.Context(), "alice", r, true); err != nil || a.Refusal == nil {
		t.Errorf("%+v, %v", a, err)
	}
	if w := s.when("alice", api.WhenQuery{Jobs: []int64{3}}).Jobs; len(w) != 1 || w[0].Start == nil || w[0].Start.Median < desktest.Epoch+5*3600 {
		t.Errorf("%+v", w)
	}
}

// Each task of an array behind aftercorr waits for the one with its index, and for no other.
func TestWhenCorresponding(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime = 600, 1800
	s.observe(
		entry(40, "alice", 0, func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks, j.Tasks, j.AtOnce = 40, "2-5", 4, 1 }),
		entry(41, "alice", 0, func(j *slurm.QueueEntry) {
			j.ArrayJob, j.ArrayTasks, j.State, j.Start = 40, "1", workload.Running, desktest.Epoch-900
		}),
		behind(60, "aftercorr:40_*(unfulfilled)", func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks, j.Tasks = 60, "1-5", 5 }),
	)
	at := func(tasks string) (start, end int64) {
		t.Helper()
		q := api.WhenQuery{Jobs: []int64{60}}
		if tasks != "" {
			q = api.WhenQuery{ArrayTasks: []api.ArrayTasks{{Array: 60, Tasks: tasks}}}
		}
		w := s.when("alice", q).Jobs
		if len(w) != 1 || w[0].Start == nil || w[0].End == nil {
			t.Fatalf("%s: %+v", tasks, w)
		}
		return w[0].Start.Median - desktest.Epoch, w[0].End.Median - desktest.Epoch
	}
	last := int64(0)
	for _, tasks := range []string{"1", "2", "3", "5"} {
		start, end := at(tasks)
		if start < last || end < start+1200 {
			t.Errorf("task %s from %d to %d, the one before from %d", tasks, start, end, last)
		}
		last = start
	}
	first, _ := at("1")
	second, _ := at("2")
	start, end := at("")
	_, latest := at("5")
	if start != first || first > 2400 || second < 2400 || end < latest {
		t.Errorf("from %d to %d; the first task from %d, the second from %d, the last to %d", start, end, first, second, latest)
	}
}

// So does each task of an array behind that one: its first task comes no sooner than the one
// before.
func TestWhenCorrespondingTwice(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime = 600, 1800
	array := func(id int64) func(*slurm.QueueEntry) {
		return func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks, j.Tasks = id, "1-5", 5 }
	}
	s.observe(entry(40, "alice", 0, array(40)), behind(60, "aftercorr:40_*(unfulfilled)", array(60)), behind(80, "aftercorr:60_*(unfulfilled)", array(80)))
	for _, task := range []string{"1", "3"} {
		w := s.when("alice", api.WhenQuery{ArrayTasks: []api.ArrayTasks{{Array: 60, Tasks: task}, {Array: 80, Tasks: task}}}).Jobs
		if len(w) != 2 || w[0].End.Median < w[0].Start.Median+1200 || w[1].Start.Median < w[0].End.Median {
			t.Errorf("task %s: %+v", task, w)
		}
	}
}

// The tasks of an array end well or badly together: a job behind all of them is no more likely to
// be lost when some have started.
func TestWhenBehindTasks(t *testing.T) {
	for _, running := range []int64{0, 1, 5} {
		s := newSite(t)
		s.Outlook.Fails = .2
		jobs := []*slurm.QueueEntry{entry(40, "alice", 0, func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks, j.Tasks = 40, "10-19", 10 })}
		for task := range running {
			jobs = append(jobs, entry(41+task, "alice", 0, func(j *slurm.QueueEntry) {
				j.ArrayJob, j.ArrayTasks, j.State, j.Start = 40, strconv.FormatInt(task, 10), workload.Running, desktest.Epoch-60
			}))
		}
		s.observe(append(jobs, behind(60, "afterok:40_*(unfulfilled)", nil))...)
		if w := s.when("alice", api.WhenQuery{Jobs: []int64{60}}).Jobs; len(w) != 1 || math.Abs(w[0].Lost-.2) > .03 {
			t.Errorf("with %d tasks running: %+v", running, w)
		}
	}
}
