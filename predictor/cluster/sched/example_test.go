package sched_test

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Job 2 needs the whole machine and has to wait for job 1. Job 3 fits beside job 1, and
// ends before job 2 can start; job 4 would not.
func Example() {
	s := sched.New(sched.Config{Procs: 16, Order: sched.FCFS(), Backfill: sched.EASY})
	pass := func(now int64) {
		started, _ := s.Pass(now)
		for _, j := range started {
			fmt.Printf("%d s: job %d starts\n", now, j.ID)
		}
	}
	jobs := []*sched.Job{
		{ID: 1, Procs: 12, Limit: 3600},
		{ID: 2, Procs: 16, Limit: 3600},
		{ID: 3, Procs: 4, Limit: 1800},
		{ID: 4, Procs: 4, Limit: 7200},
	}
	for _, j := range jobs {
		s.Submit(0, j)
	}
	pass(0)

	s.Finish(1200, jobs[0]) // long before its limit
	pass(1200)
	s.Finish(1800, jobs[2])
	pass(1800)
	fmt.Println("waiting:", s.Queued())
	// Output:
	// 0 s: job 1 starts
	// 0 s: job 3 starts
	// 1800 s: job 2 starts
	// waiting: 1
}
