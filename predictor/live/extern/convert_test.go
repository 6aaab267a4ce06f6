package extern

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
	"github.com/varq-project/varq/predictor/workload"
)

// listener keeps the last event that it has observed.
type listener struct {
	what string
	job  workload.Job
}

func (l *listener) Submitted(j *workload.Job) { l.what, l.job = "submitted", *j }
func (l *listener) Started(j *workload.Job)   { l.what, l.job = "started", *j }
func (l *listener) Ended(j *workload.Job)     { l.what, l.job = "ended", *j }

// TestEventsComeThrough sends events with every field set over the wire.
func TestEventsComeThrough(t *testing.T) {
	request := workload.Request{
		User: "ada", Account: "maths", Partition: "batch", QOS: "high",
		Size: workload.Size{Nodes: 1, CPUs: 2, GPUs: 3, Memory: 4}, Limit: 5,
	}
	for s := workload.Unknown; s <= workload.Requeued; s++ {
		want := workload.Job{ID: 6, Request: request, Submit: 7, Eligible: 8, Start: 9, End: 10, State: s}
		for what, event := range map[string]*forecasterpb.Event{
			"submitted": submitted(&want), "started": started(&want), "ended": ended(&want),
		} {
			data, err := proto.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			var arrived forecasterpb.Event
			if err := proto.Unmarshal(data, &arrived); err != nil {
				t.Fatal(err)
			}
			var got listener
			observe(&got, &arrived)
			if diff := cmp.Diff(want, got.job); diff != "" || got.what != what {
				t.Errorf("%s arrives as %s: %s", what, got.what, diff)
			}
		}
	}
	q := forecast.Question{Request: request, Now: 11, Submit: 12, Job: 13}
	if diff := cmp.Diff(q, toQuestion(fromQuestion(&q))); diff != "" {
		t.Error(diff)
	}
}

func TestNewerEventsAreLeftOut(t *testing.T) {
	var l listener
	observe(&l, &forecasterpb.Event{})
	if l.what != "" {
		t.Errorf("%s, of an event that is not known", l.what)
	}
	if s := toState("SUSPENDED"); s != workload.Unknown {
		t.Errorf("a state that is not known is %v", s)
	}
}
