// Package studytest has what the tests of studies share: synthetic logs, synthetic outcomes, and
// checks that apply to every study.
package studytest

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Logs has a small log for every name. Its jobs run for minutes on a few nodes, and one is
// submitted every few seconds.
type Logs struct{}

// normalQueue is the number of DataStar's queue "normal", the only one whose jobs the study varq
// takes.
const normalQueue = 3

// jobs yields the jobs of a log.
func jobs(yield func(sched.Job) bool) {
	random := rand.New(rand.NewPCG(1, 2))
	at := int64(0)
	for id := range int64(120) {
		at += random.Int64N(200)
		job := sched.Job{
			ID: id, Submit: at, Procs: 1 + random.Int32N(200), Limit: 3600, Run: 1 + random.Int64N(3600),
			User: random.Int32N(5), Queue: normalQueue,
		}
		if !yield(job) {
			return
		}
	}
}

const procs = 256 // of every machine

// Open implements study.Traces.
func (Logs) Open(string) (iter.Seq2[sched.Job, error], int32, error) {
	return func(yield func(sched.Job, error) bool) {
		for job := range jobs {
			if !yield(job, nil) {
				return
			}
		}
	}, procs, nil
}

// Requests implements study.Traces.
func (Logs) Requests(string) (func(*sched.Job) workload.Request, error) {
	return func(j *sched.Job) workload.Request {
		return workload.Request{User: fmt.Sprint(j.User), Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
	}, nil
}

// Ran implements study.Traces. It has jobs of hours, over two years, but for SDSC's Blue Horizon,
// which only the study roblitz asks about, those of Open.
func (Logs) Ran(name string) (iter.Seq2[workload.Job, error], error) {
	if name == "SDSC-BLUE-2000" {
		return ranAsOpened, nil
	}
	return func(yield func(workload.Job, error) bool) {
		random := rand.New(rand.NewPCG(3, 4))
		for id := range int64(400) {
			job := workload.Job{ID: id, Start: 1 + id*160_000}
			job.Nodes, job.Limit, job.End = 1+random.Int32N(20), 60_000, job.Start+random.Int64N(60_000)
			if !yield(job, nil) {
				return
			}
		}
	}, nil
}

// ranAsOpened yields the jobs of Open, of which some failed and some were interactive.
func ranAsOpened(yield func(workload.Job, error) bool) {
	for j := range jobs {
		job := workload.Job{ID: j.ID, Submit: j.Submit, Start: j.Submit + 1, End: j.Submit + 1 + j.Run, State: workload.Completed}
		job.Nodes, job.CPUs, job.Limit, job.Partition = j.Procs, j.Procs, j.Limit, "normal"
		if j.ID%7 == 0 {
			job.State = workload.Failed
		}
		if j.ID%11 == 0 {
			job.Partition = "interactive"
		}
		if !yield(job, nil) {
			return
		}
	}
}

// Failures implements study.Traces. It has two hundred, over two years.
func (Logs) Failures(string) (nodes []string, failures []workload.Failure, err error) {
	random := rand.New(rand.NewPCG(5, 6))
	for node := range 40 {
		nodes = append(nodes, fmt.Sprint(node))
	}
	for n := range int64(200) {
		at := 1e9 + n*320_000
		failures = append(failures, workload.Failure{Node: nodes[random.IntN(40)], Down: at, Up: at + random.Int64N(9000)})
	}
	return nodes, failures, nil
}

// brokenLogs end with an error.
type brokenLogs struct{ Logs }

var errBroken = errors.New("line 7: broken")

func (brokenLogs) Open(string) (iter.Seq2[sched.Job, error], int32, error) {
	return func(yield func(sched.Job, error) bool) {
		for job := range jobs {
			if !yield(job, nil) {
				return
			}
			if job.ID == 3 {
				yield(sched.Job{}, errBroken)
				return
			}
		}
	}, procs, nil
}

func (brokenLogs) Ran(string) (iter.Seq2[workload.Job, error], error) {
	return func(yield func(workload.Job, error) bool) { yield(workload.Job{}, errBroken) }, nil
}

func (brokenLogs) Failures(string) ([]string, []workload.Failure, error) { return nil, nil, errBroken }
