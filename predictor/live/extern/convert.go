package extern

import (
	"strings"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
	"github.com/varq-project/varq/predictor/workload"
)

// text returns s as valid UTF-8, as protocol buffers require it. Names in Slurm are bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func fromRequest(r *workload.Request) *forecasterpb.Request {
	return &forecasterpb.Request{
		User: text(r.User), Account: text(r.Account), Partition: text(r.Partition), Qos: text(r.QOS),
		Nodes: r.Nodes, Cpus: r.CPUs, Gpus: r.GPUs, MemoryMib: r.Memory, Limit: r.Limit,
	}
}

func toRequest(r *forecasterpb.Request) workload.Request {
	return workload.Request{
		User: r.GetUser(), Account: r.GetAccount(), Partition: r.GetPartition(), QOS: r.GetQos(),
		Size:  workload.Size{Nodes: r.GetNodes(), CPUs: r.GetCpus(), GPUs: r.GetGpus(), Memory: r.GetMemoryMib()},
		Limit: r.GetLimit(),
	}
}

func fromJob(j *workload.Job) *forecasterpb.Job {
	return &forecasterpb.Job{
		Id: j.ID, Request: fromRequest(&j.Request),
		Submit: j.Submit, Eligible: j.Eligible, Start: j.Start, End: j.End, State: j.State.String(),
	}
}

func toJob(j *forecasterpb.Job) workload.Job {
	return workload.Job{
		ID: j.GetId(), Request: toRequest(j.GetRequest()),
		Submit: j.GetSubmit(), Eligible: j.GetEligible(), Start: j.GetStart(), End: j.GetEnd(), State: toState(j.GetState()),
	}
}

// toState returns the state with a name, or Unknown.
func toState(name string) workload.State {
	for s := workload.Unknown; s <= workload.Requeued; s++ {
		if s.String() == name {
			return s
		}
	}
	return workload.Unknown
}

func fromQuestion(q *forecast.Question) *forecasterpb.Question {
	return &forecasterpb.Question{Request: fromRequest(&q.Request), Now: q.Now, Submit: q.Submit, Job: q.Job}
}

func toQuestion(q *forecasterpb.Question) forecast.Question {
	return forecast.Question{Request: toRequest(q.GetRequest()), Now: q.GetNow(), Submit: q.GetSubmit(), Job: q.GetJob()}
}

func submitted(j *workload.Job) *forecasterpb.Event {
	return &forecasterpb.Event{Event: &forecasterpb.Event_Submitted{Submitted: fromJob(j)}}
}

func started(j *workload.Job) *forecasterpb.Event {
	return &forecasterpb.Event{Event: &forecasterpb.Event_Started{Started: fromJob(j)}}
}

func ended(j *workload.Job) *forecasterpb.Event {
	return &forecasterpb.Event{Event: &forecasterpb.Event_Ended{Ended: fromJob(j)}}
}

// observe tells an event to an observer. It leaves out an event of an unknown kind, which
// comes from a newer varqd.
func observe(o forecast.Observer, e *forecasterpb.Event) {
	switch e := e.GetEvent().(type) {
	case *forecasterpb.Event_Submitted:
		j := toJob(e.Submitted)
		o.Submitted(&j)
	case *forecasterpb.Event_Started:
		j := toJob(e.Started)
		o.Started(&j)
	case *forecasterpb.Event_Ended:
		j := toJob(e.Ended)
		o.Ended(&j)
	}
}
