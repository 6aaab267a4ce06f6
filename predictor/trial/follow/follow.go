// Package follow tells forecasters what happens in a simulation, as varqd tells them what happens
// on a cluster.
package follow

import (
	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// Follower follows the jobs of a simulation. Its queue knows of each event before the observer
// does, which may read it.
type Follower struct {
	Queue    queue.Queue
	Observer forecast.Observer
	// Request returns what a job asks for.
	Request func(*sched.Job) workload.Request
}

// Job returns j in the form that forecasters take, with neither start nor end.
func (f *Follower) Job(j *sched.Job) workload.Job {
	return workload.Job{ID: j.ID, Request: f.Request(j), Submit: j.Submit, Eligible: j.Submit}
}

// Submitted observes that j joins the queue.
func (f *Follower) Submitted(j *sched.Job) {
	job := f.Job(j)
	f.Queue.Submit(job)
	f.Observer.Submitted(&job)
}

// Started observes that j starts, a task of array if that is not 0.
func (f *Follower) Started(j *sched.Job, array int64) {
	job := f.Job(j)
	job.Start, job.Array = j.Start, array
	f.Queue.Start(job)
	f.Observer.Started(&job)
}

// Ended observes that j has ended.
func (f *Follower) Ended(j *sched.Job) {
	job := f.Job(j)
	job.Start, job.End = j.Start, j.End
	f.Left(job)
}

// Left observes that a job, with its end, has left the queue.
func (f *Follower) Left(job workload.Job) {
	f.Queue.Remove(job.ID)
	f.Observer.Ended(&job)
}
