package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// users has a user for each job, by the hundreds of its number.
func users(j *sched.Job) workload.Request {
	return workload.Request{User: fmt.Sprint("user", j.ID/100), Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
}

// Like jobs of one user that come soon after one another are an array.
func TestBursts(t *testing.T) {
	job := func(id, submit int64, procs int32) sched.Job {
		return sched.Job{ID: id, Submit: submit, Procs: procs, Run: 10, Limit: 100}
	}
	var got []string
	for burst, err := range bursts(each([]sched.Job{
		job(101, 0, 1), job(102, 50, 1), job(103, 110, 1), // within a minute each
		job(104, 171, 1),                   // later
		job(105, 180, 2), job(106, 190, 1), // of another size
		job(201, 190, 1), job(202, 190, 1), // another's
	}), users) {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint("at ", burst[0].Submit, ":")
		for _, j := range burst {
			text += fmt.Sprint(" ", j.ID)
			if j.Submit != burst[0].Submit {
				t.Errorf("job %d is of %d", j.ID, j.Submit)
			}
		}
		got = append(got, text)
	}
	want := []string{"at 0: 101 102 103", "at 171: 104", "at 180: 105", "at 190: 106", "at 190: 201 202"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A promise about an array is kept if as many tasks as were promised start by the deadline, and
// each of its tasks is held until then.
func TestArrayPromises(t *testing.T) {
	var jobs []sched.Job
	for i, j := range busy(600) { // each job is a burst of three
		for k := range int64(3) {
			task := j
			task.ID = int64(i)*100 + k
			task.Procs = min(j.Procs, 16)
			jobs = append(jobs, task)
		}
	}
	for _, of := range []Arrays{AllTasks, HalfTasks, FirstTask} {
		r, err := ParseReservations("varq=50%,prob=.6,forecaster=qbets,arrays=" + of.String())
		if err != nil || !strings.Contains(r.String(), "arrays="+of.String()) {
			t.Fatalf("%v, %v", r, err)
		}
		promised := 0
		result, err := (&Scenario{Procs: 64, Reservations: r, Request: users, Seed: 1}).Run(each(jobs), Callbacks{Answered: func(o Outcome) {
			if o.Refusal == "" {
				promised++
				if o.Held < 0 || o.Kept() != (o.Start <= o.Deadline) {
					t.Errorf("%+v", o)
				}
			}
		}})
		if err != nil || promised == 0 || result.VARQ.Promised != promised || result.VARQ.Kept > promised || result.Jobs != len(jobs) {
			t.Errorf("%s: %d promises, %+v, %v", of, promised, result.VARQ, err)
		}
	}
	if AllTasks.of(5) != 5 || HalfTasks.of(5) != 3 || FirstTask.of(5) != 1 {
		t.Error("of five tasks others are promised")
	}
	if _, err := ParseReservations("varq=50%,arrays=none"); err == nil {
		t.Error("arrays=none is taken")
	}
}
