package main

import (
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/extern"
)

const day = 86400

// past tells of two nodes, one of which fails again within the day.
func past(to func(fault.Event)) {
	for _, e := range []fault.Event{{Node: "a", At: 10 * day}, {Node: "b", At: 10 * day}, {Node: "b", At: 10*day + 5}, {Node: "b", At: 10*day + 5}, {Node: "c", Kind: "drained", At: 11 * day}} {
		to(e)
	}
}

func TestLastFailures(t *testing.T) {
	l := newLastFail(24 * time.Hour)
	past(l.Observe)
	nodes := []string{"a", "b", "c"}
	if got := l.Expected(nodes, 11*day, day/2); !cmp.Equal(got, []float64{-1, 1. / 7, -1}) {
		t.Errorf("expects %v", got)
	}
	if got := l.Expected(nodes, 20*day, day); !cmp.Equal(got, []float64{-1, -1, -1}) {
		t.Errorf("later %v", got)
	}
}

// TestAsProgram builds the program and asks it as varqd does.
func TestAsProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lastfail")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f := extern.NewFaults(extern.Options[func(fault.Event)]{
		Name: "lastfail", Command: program + " -soon 48h", Timeout: 5 * time.Minute, Log: slog.New(slog.DiscardHandler),
		Past: func(_ context.Context, to func(fault.Event)) error { past(to); return nil },
	})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	defer running.Wait()
	defer stop()
	for deadline := time.Now().Add(5 * time.Minute); f.Health().Problem != ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", f.Health())
		}
	}
	if got := f.Expected([]string{"a", "b", "c"}, 11*day, day); !cmp.Equal(got, map[string]float64{"a": 1. / 7, "b": 1. / 7}) {
		t.Errorf("expects %v", got)
	}
	if v := f.Health().Version; v != "lastfail 1.0 -soon 48h0m0s" {
		t.Errorf("calls itself %q", v)
	}
}
