package sim_test

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
)

// multifactor is an order like that of Slurm's priority/multifactor plugin: weights times factors
// from 0 to 1.
type multifactor struct {
	ageWeight, sizeWeight, partitionWeight float64
	maxAge                                 float64 // seconds: PriorityMaxAge
	procs                                  float64 // of the cluster
	partitions                             map[int32]float64
}

func (m multifactor) priority(now int64, j *sched.Job) float64 {
	return m.ageWeight*min(1, float64(now-j.Submit)/m.maxAge) +
		m.sizeWeight*float64(j.Procs)/m.procs +
		m.partitionWeight*m.partitions[j.Partition]
}

// printer prints the starts of jobs.
type printer struct{}

func (printer) Reserved(int64, *sched.Job, int64, int64) {}
func (printer) Started(now int64, j *sched.Job)          { fmt.Printf("%5d  job %d starts\n", now, j.ID) }
func (printer) Stopped(int64, *sched.Job)                {}
func (printer) Ended(int64, *sched.Job)                  {}

// Slurm's multifactor priorities are an order like others. Because jobs grow older, the example
// orders the queue again every five minutes. Otherwise job 4 would stay ahead of job 2.
func Example_multifactor() {
	m := multifactor{
		ageWeight: 1000, sizeWeight: 500, partitionWeight: 400,
		maxAge: 3600, procs: 16, partitions: map[int32]float64{1: 0, 2: 1},
	}
	s := sim.New(sched.Config{
		Procs:    16,
		Backfill: sched.EASY,
		Order: sched.Order{Name: "multifactor", Key: func(now int64, j *sched.Job) float64 {
			return -m.priority(now, j) // the highest priority comes first
		}},
	}, printer{})

	for _, j := range []sched.Job{
		{ID: 1, Submit: 0, Procs: 16, Limit: 3000, Run: 3000, Partition: 1},
		{ID: 2, Submit: 60, Procs: 10, Limit: 600, Run: 600, Partition: 1},
		{ID: 3, Submit: 120, Procs: 10, Limit: 600, Run: 600, Partition: 2},  // a better partition
		{ID: 4, Submit: 2400, Procs: 16, Limit: 600, Run: 600, Partition: 2}, // large, but late
		{ID: 5, Submit: 2400, Procs: 4, Limit: 600, Run: 600, Partition: 1},  // fits beside another
	} {
		s.Submit(&j)
	}
	var reorder func(now int64)
	reorder = func(now int64) {
		s.Scheduler().Reorder(now)
		if now < 6000 {
			s.Call(now+300, reorder)
		}
	}
	s.Call(300, reorder)
	s.Drain()
	// Output:
	//     0  job 1 starts
	//  3000  job 3 starts
	//  3000  job 5 starts
	//  3600  job 2 starts
	//  4200  job 4 starts
}
