package desk

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A flow follows arrays, single tasks of these, and jobs of the same user and name.
func TestFlowOfQueue(t *testing.T) {
	task := func(id int64, tasks string) *slurm.QueueEntry {
		return entry(id, "alice", 0, func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks = 20, tasks })
	}
	named := func(name string) func(*slurm.QueueEntry) { return func(j *slurm.QueueEntry) { j.Name = name } }
	runs := func(j *slurm.QueueEntry) { j.Name, j.State, j.Start = "one", workload.Running, desktest.Epoch-60 }
	jobs := map[int64]*slurm.QueueEntry{}
	for _, j := range []*slurm.QueueEntry{
		task(20, "4-9"), task(21, "1"), task(22, "2"),
		behind(30, "afterok:20_*(unfulfilled)", nil), behind(31, "afterok:20_1(unfulfilled)", nil), behind(32, "afterany:22(unfulfilled)", nil),
		behind(33, "aftercorr:20(unfulfilled)", func(j *slurm.QueueEntry) { j.ArrayJob, j.ArrayTasks = 33, "2-4" }),
		entry(40, "alice", 0, named("one")), behind(41, "singleton(unfulfilled)", named("one")), entry(42, "alice", 0, named("one")),
		behind(43, "singleton(unfulfilled)", named("one")), entry(44, "alice", 0, runs), entry(45, "bob", 0, named("one")), behind(46, "singleton(unfulfilled)", named("other")),
		behind(50, "afterok:x", nil), behind(51, "afterok:99(unfulfilled)", nil),
	} {
		jobs[j.ID] = j
	}
	x := indexOf(jobs)
	for of, want := range map[int64][]int64{
		20: {20, 21, 22, 30, 31, 32, 33}, 21: {21, 30, 31}, 22: {22, 30, 32, 33}, 31: {21, 31}, 33: {20, 22, 33},
		40: {40, 41, 43}, 41: {40, 41, 43, 44}, 42: {42, 43}, 43: {40, 41, 42, 43, 44}, 44: {41, 43, 44}, 45: {45}, 46: {46}, 50: {50}, 51: {51}, 99: nil,
	} {
		var got []int64
		for _, j := range x.flow([]int64{of}) {
			got = append(got, j.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from job %d: %v, want %v", of, got, want)
		}
	}
}

// roomsAsked counts for which jobs room is looked for.
type roomsAsked struct {
	*desktest.Outlook
	of map[int64]int
}

func (o *roomsAsked) Room(place workload.Place, job, now int64, others []workload.Claim) func(workload.Claim, float64) workload.Room {
	o.of[job]++
	return o.Outlook.Room(place, job, now, others)
}

// For all that is asked about a look the queue is indexed once, also if an answer lets jobs go. In
// an answer the room of each job is looked for once, whenever the job may become eligible.
func TestFlowCosts(t *testing.T) {
	s := flowSite(t)
	asked := &roomsAsked{s.Outlook, map[int64]int{}}
	s.desk.Outlook = asked
	index := s.desk.queue.Load().index()
	if _, err := (Flows{s.desk}).Quote(t.Context(), "alice", &api.FlowRequest{Jobs: []int64{1}, FinishBy: desktest.Epoch + 60, Prob: .8, Released: true}); err != nil {
		t.Fatal(err)
	}
	if now := s.desk.queue.Load().index(); now != index || !now.entries[1].Held {
		t.Error("another index, or another job 1")
	}
	for id := range int64(5) {
		if n := asked.of[id+1]; n != 1 {
			t.Errorf("the room of job %d is looked for %d times", id+1, n)
		}
	}
}
