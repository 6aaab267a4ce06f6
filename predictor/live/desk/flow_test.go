package desk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/workload"
)

// flowSite is a site where jobs wait for ten minutes, run for half an hour, and fail now and then:
// job 2 waits for 1, which alice holds, 3 for 2, 4 for 2 to fail, and 5 for 3 and 4.
func flowSite(t *testing.T) *site {
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime, s.Outlook.Fails = 600, 1800, .1
	s.observe(
		entry(1, "alice", 0, func(j *slurm.QueueEntry) { j.Held = true }),
		behind(2, "afterany:1(unfulfilled)", nil), behind(3, "afterok:2(unfulfilled)", nil),
		behind(4, "afternotok:2(unfulfilled)", nil), behind(5, "afterany:3(unfulfilled),afterany:4(unfulfilled)", nil),
		entry(9, "bob", 0, nil),
	)
	return s
}

// The end of a flow is promised by the longest path, and by how probable it is that each job does
// what others need. Jobs for the case that others fail do not count, and held ones are let go.
func TestFlowQuote(t *testing.T) {
	const epoch, three = desktest.Epoch, 3 * (600 + 1800)
	s := flowSite(t)
	ask := func(r api.FlowRequest) api.FlowAnswer {
		t.Helper()
		a, err := Flows{s.desk}.Quote(t.Context(), "alice", &r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	r := api.FlowRequest{Name: "nightly", Jobs: []int64{1}, FinishBy: epoch + three + 180, Prob: .8, Released: true}
	a := ask(r)
	if p := a.Promised; p == nil || !slices.Equal(p.Jobs, []int64{1, 2, 3}) || math.Abs(p.Estimate-.9) > .03 || p.Prob != .8 || p.User != "alice" || p.ID != "" {
		t.Errorf("%+v, %+v", a.Promised, a.Refusal)
	}
	s.Outlook.Learns = true
	if a := ask(r); !a.Flow.Learning || a.Promised == nil {
		t.Errorf("while it learns: %+v", a.Flow)
	}
	s.Outlook.Learns = false
	if f := a.Flow; f.Learning || len(f.Jobs) != 5 || math.Abs(float64(f.End.Median-epoch-three)) > 60 || math.Abs(f.Lost-.1) > .03 {
		t.Errorf("%+v", f)
	}
	sooner := r
	sooner.FinishBy = epoch + three - 120
	if a := ask(sooner); a.Refusal == nil || len(a.Refusal.Offers) != 1 || a.Refusal.Offers[0].Prob != .8 || a.Refusal.Offers[0].FinishBy > r.FinishBy+300 ||
		!strings.HasPrefix(a.Refusal.Reason, "that all jobs have ended by the deadline can be promised with probability 0.0") || !strings.Contains(a.Refusal.Reason, " at best, not 0.8; with probability 0.1") {
		t.Errorf("%+v", a.Refusal)
	}
	surer := r
	surer.Prob = .97
	if a := ask(surer); a.Refusal == nil || len(a.Refusal.Offers) != 1 || a.Refusal.Offers[0].FinishBy != r.FinishBy || math.Abs(a.Refusal.Offers[0].Prob-.88) > .03 {
		t.Errorf("%+v", a.Refusal)
	}
	held := r
	held.Released = false
	if a := ask(held); a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, "of job 1 nothing is forecast: its user holds it") {
		t.Errorf("%+v", a.Refusal)
	}
	for _, jobs := range [][]int64{{7}, {9}, {1, 9}} {
		if _, err := (Flows{s.desk}).Quote(t.Context(), "alice", &api.FlowRequest{Jobs: jobs, FinishBy: epoch + 60}); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("%v: %v", jobs, err)
		}
	}
	s.desk.Shadow = true
	if a := ask(r); a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "only watches") {
		t.Errorf("%+v", a)
	}
}

// A job that its time limit stops voids the promise: that counts, and is said.
func TestFlowStopped(t *testing.T) {
	s := flowSite(t)
	s.Outlook.RunTime, s.Outlook.Fails = 3600, 0 // the time limit
	s.observe(entry(1, "alice", 0, nil), behind(2, "afterany:1(unfulfilled)", func(j *slurm.QueueEntry) { j.Limit = 2 * 3600 }))
	a, err := Flows{s.desk}.Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{2}, FinishBy: desktest.Epoch + 86400, Prob: .5})
	if err != nil || a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "; with probability 1.00 one of them is stopped at its time limit, and then nothing is promised: --time gives it more") {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
	if a.Flow == nil || a.Flow.End == nil || a.Flow.End.Median == 0 {
		t.Errorf("%+v", a.Flow)
	}
}

// The jobs of a flow may all be newer than the last look at the queue, as those of a file are. So
// many jobs of a dependency may not.
func TestFlowNew(t *testing.T) {
	s := flowSite(t)
	r := api.FlowRequest{FinishBy: desktest.Epoch + 30*24*3600, Prob: .5}
	var on []string
	for id := int64(1000); id < 1000+api.MostFlowJobs; id++ {
		s.Slurm.Pending[id] = *entry(id, "alice", 0, nil)
		r.Jobs = append(r.Jobs, id)
		on = append(on, fmt.Sprintf("afterany:%d", id))
	}
	if a, err := (Flows{s.desk}).Quote(t.Context(), "alice", &r); err != nil || a.Promised == nil || len(a.Promised.Jobs) != api.MostFlowJobs {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
	for n, want := range map[int]error{mostNew: nil, mostNew + 1: api.ErrInvalid} {
		req := desktest.Request(desktest.Epoch + 7200)
		req.BestEffort, req.Dependency = true, strings.Join(on[:n], ",")
		if _, err := s.desk.Plan(t.Context(), "alice", req, true); !errors.Is(err, want) {
			t.Errorf("%d new jobs: %v", n, err)
		}
	}
}

// How long a job waits that waits for others is forecast with these, given that it starts.
func TestFlowWait(t *testing.T) {
	s := flowSite(t)
	s.observe(entry(1, "alice", 0, nil), behind(2, "afterany:1(unfulfilled)", nil), behind(3, "afterok:2(unfulfilled)", nil), behind(4, "afterok:9(failed)", nil))
	for id, want := range map[int64]float64{2: 600 + 1800 + 600, 3: 600 + 2*(1800+600)} {
		j := behind(id, map[int64]string{2: "afterany:1(unfulfilled)", 3: "afterok:2(unfulfilled)"}[id], nil)
		of, ok := Flows{s.desk}.Wait(t.Context(), j)
		wait := &of.Drawn
		if !ok || of.Told != of.Drawn || of.Waits != int(id) || wait.Within(want*.85) > .1 || wait.Within(want*1.15) < .95 || wait.Within(1e9) != 1 {
			t.Errorf("job %d: %v, %v to %v", id, ok, wait.Within(want*.85), wait.Within(want*1.15))
		}
	}
	if _, ok := (Flows{s.desk}).Wait(t.Context(), behind(4, "afterok:9(failed)", nil)); ok {
		t.Error("forecast of a job that never starts")
	}
}

// What has been learnt of forecasts of jobs that wait for others replaces the probabilities of
// these, wherever they are told, and of no other job. The first of them becomes eligible as before.
func TestFlowLearnt(t *testing.T) {
	s := learnt(t, 150)
	s.observe(entry(1, "alice", 0, nil), behind(2, "afterany:1(unfulfilled)", nil), behind(3, "afterany:2(unfulfilled)", nil))
	by := int64(desktest.Epoch + 5*3600)
	ask := func() (w []api.Waiting, f api.FlowAnswer) {
		f, err := Flows{s.desk}.Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{1, 2, 3}, FinishBy: by, Prob: .1})
		if err != nil || f.Promised == nil {
			t.Fatalf("%v: %+v", err, f.Refusal)
		}
		return s.when("alice", api.WhenQuery{}).Jobs, f
	}
	jobs, whole := ask()
	known := flow.NewLearnt()
	for i := range int64(1000) { // they have been too long
		for waits := range 4 {
			known.LearnRank(waits, .4*float64(i%10)/9, desktest.Epoch-3600*(1000-i))
		}
	}
	s.desk.Behind = func() *flow.Learnt { return known }
	sooner, all := ask()
	if *sooner[0].Start != *jobs[0].Start || *sooner[0].End != *jobs[0].End {
		t.Errorf("a job that waits for none: %+v, before %+v", sooner[0].Start, jobs[0].Start)
	}
	for i := range jobs[1:] {
		if now, was := sooner[i+1], jobs[i+1]; (i == 0) != (*now.Eligible == *was.Eligible) || now.Start.Late >= was.Start.Late || now.End.Median >= was.End.Median || now.By[0].Prob <= was.By[0].Prob {
			t.Errorf("job %d: %+v to %+v, before %+v to %+v", now.Job, now.Start, now.End, was.Start, was.End)
		}
	}
	if last := sooner[2]; *all.Flow.End != *last.End || all.Promised.Estimate <= whole.Promised.Estimate {
		t.Errorf("the flow ends %+v, its last job %+v; estimates %v and %v", all.Flow.End, last.End, whole.Promised.Estimate, all.Promised.Estimate)
	}
	// a flow does not end before one of its jobs that waits for none
	s.observe(entry(1, "alice", 0, func(j *slurm.QueueEntry) { j.Limit = 9 * 3600; j.Start, j.State = desktest.Epoch-60, workload.Running }), behind(2, "after:1(unfulfilled)", nil))
	if f, err := (Flows{s.desk}).Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{1, 2}, FinishBy: by, Prob: .1}); err != nil || f.Flow.End.Late < f.Flow.Jobs[0].End.Late || f.Flow.End.Median < f.Flow.Jobs[0].End.Median {
		t.Errorf("%+v, %+v, %v", f.Flow.End, f.Flow.Jobs[0].End, err)
	}
	w, ok := Flows{s.desk}.Wait(t.Context(), behind(3, "afterany:2(unfulfilled)", nil))
	if !ok || w.Waits != 2 || w.Told.Within(7200) < w.Drawn.Within(7200)+.05 {
		t.Errorf("within two hours with probability %v, as drawn %v: %d waits", w.Told.Within(7200), w.Drawn.Within(7200), w.Waits)
	}
}

// Where nodes fail, a flow ends later: its jobs are requeued.
func TestFlowFails(t *testing.T) {
	late := func(failing float64) int64 {
		s := flowSite(t)
		s.Outlook.Fails, s.Outlook.Failing = 0, map[string]float64{}
		for name := range s.Premises.Limits().Nodes {
			s.Outlook.Failing[name] = failing
		}
		a, err := Flows{s.desk}.Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{1}, FinishBy: desktest.Epoch + 86400, Released: true})
		if err != nil || a.Flow.End == nil {
			t.Fatal(a, err)
		}
		return a.Flow.End.Late
	}
	if calm, failing := late(0), late(.2); failing < calm+600 {
		t.Errorf("it ends by %d, and by %d if nodes fail", calm, failing)
	}
}

// A promise of a flow is forecast by those of its jobs that are left, and these have their room.
func TestFlowNow(t *testing.T) {
	const epoch = desktest.Epoch
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime = 600, 1800
	s.observe(
		entry(2, "alice", 0, func(j *slurm.QueueEntry) { j.State, j.Start = workload.Running, epoch-900 }),
		behind(3, "afterok:2(unfulfilled)", nil),
	)
	p := api.FlowPromise{User: "alice", Jobs: []int64{1, 2, 3}, FinishBy: epoch + 900 + 600 + 1800 + 60}
	now, told, slots, err := (Flows{s.desk}).Now(t.Context(), &p)
	if err != nil || now == nil || *now < .99 || len(told.Jobs) != 2 || len(slots) != 1 || slots[0].Job != 3 || math.Abs(float64(slots[0].Start-epoch-1500)) > 60 {
		t.Errorf("%v, %+v, %+v, %v", now, told, slots, err)
	}
	s.desk.ObserveFlows(slots)
	claims, err := s.desk.claims(t.Context(), epoch)
	if err != nil || len(claims) != 1 || claims[0].Job != 3 {
		t.Errorf("%+v, %v", claims, err)
	}
	p.FinishBy -= 300
	if now, _, _, err := (Flows{s.desk}).Now(t.Context(), &p); err != nil || now == nil || *now > .01 {
		t.Errorf("%v, %v", now, err)
	}
}

// Jobs that an engine has submitted for one run belong together, and no job of another run or user,
// nor one that was not there when the promise was made.
func TestFlowOfEngine(t *testing.T) {
	const epoch = desktest.Epoch
	s := newSite(t)
	s.Outlook.Delay, s.Outlook.RunTime = 600, 1800
	of := func(id int64, user, run, task string) *slurm.QueueEntry {
		return entry(id, user, 0, func(j *slurm.QueueEntry) {
			j.Name, j.Engine = "called "+run, engine.Job{Name: engine.Snakemake, Run: run, Task: task}
		})
	}
	nextflow := entry(8, "alice", 0, func(j *slurm.QueueEntry) { j.Engine = engine.Job{Name: engine.Nextflow, Run: "x"} })
	queue := []*slurm.QueueEntry{
		of(1, "alice", "x", "align_1"), of(2, "alice", "x", "align_2"), of(3, "alice", "x", ""), behind(4, "afterok:3(unfulfilled)", nil),
		of(5, "alice", "y", "align_1"), of(6, "bob", "x", "align_1"), entry(7, "alice", 0, nil), nextflow,
	}
	s.observe(queue...)
	tell := func(user string, jobs ...int64) (ids []int64, f *api.Flow) {
		t.Helper()
		f = s.when(user, api.WhenQuery{Jobs: jobs, Flow: true}).Flow
		for _, j := range f.Jobs {
			ids = append(ids, j.Job)
		}
		slices.Sort(ids)
		return ids, f
	}
	for _, c := range []struct {
		named   []int64
		want    []int64
		engines string
	}{
		{[]int64{1}, []int64{1, 2, 3, 4}, "Snakemake"}, {[]int64{5, 7}, []int64{5, 7}, "Snakemake"}, {[]int64{6}, []int64{6}, "Snakemake"},
		{[]int64{7}, []int64{7}, ""}, {[]int64{4}, []int64{3, 4}, ""}, {[]int64{5, 8}, []int64{5, 8}, "Nextflow and Snakemake"},
	} {
		if got, f := tell("alice", c.named...); !slices.Equal(got, c.want) || f.Engines != c.engines || f.End == nil {
			t.Errorf("%v: %v, %+v", c.named, got, f)
		}
	}
	if _, f := tell("alice", 1); f.Jobs[0].Name != "align_1" || f.Jobs[2].Name != "called x" || f.End.Median < epoch+2*2400-60 {
		t.Errorf("%+v", f)
	}
	a, err := Flows{s.desk}.Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{2}, FinishBy: epoch + 3*2400, Prob: .8})
	if err != nil || a.Promised == nil || !slices.Equal(a.Promised.Jobs, []int64{1, 2, 3, 4}) || a.Flow.Engines != "Snakemake" {
		t.Fatalf("%+v, %v", a, err)
	}
	s.observe(append(queue[1:], of(9, "alice", "x", "sum"))...)
	if _, told, _, err := (Flows{s.desk}).Now(t.Context(), a.Promised); err != nil || told.Engines != "Snakemake" || len(told.Jobs) != 3 {
		t.Errorf("%+v, %v", told, err)
	}
	s.Slurm.PrivateJobs = true
	s.Refresh()
	if got, f := tell("alice", 6); len(got) != 0 || f.Engines != "" {
		t.Errorf("bob's run is told of: %+v", f)
	}
	queue = nil
	for id := range int64(mostAwaited + 1) {
		queue = append(queue, of(1+id, "alice", "x", ""))
	}
	s.observe(queue...)
	if got, f := tell("alice", 1); len(got) != mostAwaited+1 || f.End != nil || !strings.HasSuffix(f.Unknown, "it is one of more than 500 jobs that this answer is about, or that these wait for") {
		t.Errorf("%d jobs, %s", len(got), f.Unknown)
	}
}

// Of each job of a flow is told what is told of it alone.
func TestFlowAsWhen(t *testing.T) {
	s := learnt(t, 150)
	s.observe(
		entry(1, "alice", 0, nil), entry(2, "alice", 0, func(j *slurm.QueueEntry) { j.Nodes, j.CPUs = 2, 2 }),
		behind(3, "afterok:1(unfulfilled),afterany:2(unfulfilled)", nil), behind(4, "afterany:3(unfulfilled)", nil),
	)
	answer := s.when("alice", api.WhenQuery{Jobs: []int64{1, 2, 3, 4}, Flow: true})
	if len(answer.Jobs) != 4 || len(answer.Flow.Jobs) != 4 {
		t.Fatalf("%+v", answer)
	}
	for _, w := range answer.Jobs {
		i := slices.IndexFunc(answer.Flow.Jobs, func(j api.FlowJob) bool { return j.Job == w.Job })
		if j := answer.Flow.Jobs[i]; *w.Start != *j.Start || *w.End != *j.End || w.End.Median <= w.Start.Median {
			t.Errorf("job %d: %+v to %+v, in the flow %+v to %+v", w.Job, w.Start, w.End, j.Start, j.End)
		}
	}
	if last := answer.Jobs[3]; last.Job != 4 || *last.End != *answer.Flow.End {
		t.Errorf("the flow ends %+v, its last job %+v", answer.Flow.End, last.End)
	}
	if first, next := answer.Jobs[1], answer.Jobs[2]; next.Job != 3 || next.Eligible.Median < first.End.Median || next.Eligible.Late < first.End.Late {
		t.Errorf("job 2 ends %+v, and job 3 is eligible %+v", first.End, next.Eligible)
	}
}
