package extern

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

// runFaults runs a forecaster of failures until the test ends.
func runFaults(t *testing.T, name string, timeout time.Duration) *Faults {
	t.Helper()
	f := NewFaults(Options[func(fault.Event)]{
		Name: "site", Command: command(t, name), Timeout: timeout, Log: slog.New(slog.DiscardHandler),
		Past: func(_ context.Context, to func(fault.Event)) error {
			to(fault.Event{Node: "a", At: 5})
			return nil
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	for deadline := time.Now().Add(patient); f.Health().Problem != ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never up: %+v", f.Health())
		}
	}
	return f
}

// A forecaster of failures is told of the past and of what happens, and knows what it knows.
func TestFaults(t *testing.T) {
	f := runFaults(t, "fails", patient)
	f.Observe(fault.Event{Node: "b", Kind: "drained", At: 6})
	f.Observe(fault.Event{Node: "a", At: 7})
	nodes := []string{"a", "b"}
	for i := range maxNodes {
		nodes = append(nodes, fmt.Sprint("n", i))
	}
	f.Observe(fault.Event{Node: nodes[len(nodes)-1], At: 8})
	got := f.Expected(nodes, 10, 43200)
	if diff := cmp.Diff(map[string]float64{"a": 1, "b": .05, nodes[len(nodes)-1]: .5}, got); diff != "" {
		t.Error(diff)
	}
	if h := f.Health(); f.Name() != "site" || h.Version != "tally 1" || h.Answers != 2 || len(h.Failures) > 0 {
		t.Errorf("%+v", h)
	}
}

// Of one that is wrong or slow nothing follows.
func TestFaultsThatMakeNoSense(t *testing.T) {
	for name, way := range map[string]Failure{
		"fails nobody": "", "fails too few": Nonsense, "fails NaN": Nonsense, "fails for ever": Nonsense, "fails wildly": Nonsense,
		"hangs on nodes": Late, "good": Failed,
	} {
		t.Run(name, func(t *testing.T) {
			timeout := patient
			if way == Late {
				timeout = 50 * time.Millisecond
			}
			f := runFaults(t, name, timeout)
			if got := f.Expected([]string{"a", "b"}, 10, 86400); len(got) > 0 {
				t.Errorf("expects %v", got)
			}
			if h := f.Health(); way != "" && h.Failures[way] == 0 || way == "" && h.Answers != 1 {
				t.Errorf("%+v", h)
			}
		})
	}
}
