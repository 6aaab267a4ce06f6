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

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/extern"
	"github.com/varq-project/varq/predictor/workload"
)

var ada = workload.Request{User: "ada", Partition: "batch"}

// past tells of ada's waits.
func past(o forecast.Observer, waits ...int64) {
	for i, wait := range waits {
		o.Started(&workload.Job{ID: int64(i), Request: ada, Eligible: 1000, Start: 1000 + wait})
	}
	o.Started(&workload.Job{ID: 99, Request: ada})
}

func TestLastWaits(t *testing.T) {
	l := newLastWait(5)
	past(l, 9999, 9999, 0, 60, 60)
	var a forecast.Answer
	q := &forecast.Question{Request: ada, Now: 2000, Submit: 2000}
	if !l.Forecast(q, &a) || a.Sample != 5 || a.Wait.Within(0) != 1./6 {
		t.Errorf("%+v", a)
	}
	past(l, 0, 60)
	if l.Forecast(q, &a); a.Wait.Within(100) != 5./6 || a.Wait.Within(1e6) != 5./6 {
		t.Errorf("has not forgotten: %v", a.Wait)
	}
	if public := score.PublicClass(a.Class); public != "partition=batch" {
		t.Errorf("everybody is told of the class %q", public)
	}
	q.Partition = "debug"
	if l.Forecast(q, &a) {
		t.Error("knows a partition that it never saw")
	}
}

// TestAsProgram builds the program and asks it as varqd does.
func TestAsProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lastwait")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waits := []int64{0, 10, 20, 300, 7000, 7000}
	f := extern.New(extern.Options[forecast.Observer]{
		Name: "lastwait", Command: program + " -n 6", Timeout: 5 * time.Minute,
		Past: func(_ context.Context, o forecast.Observer) error { past(o, waits...); return nil },
		Log:  slog.New(slog.DiscardHandler),
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
	l := newLastWait(6)
	past(l, waits...)
	q := &forecast.Question{Request: ada, Now: 9000, Submit: 9000}
	var want, got forecast.Answer
	l.Forecast(q, &want)
	if !f.Forecast(q, &got) || !cmp.Equal(want, got) {
		t.Errorf("as a program: %s", cmp.Diff(want, got))
	}
	if v := f.Health().Version; v != "lastwait 1.0 -n 6" {
		t.Errorf("calls itself %q", v)
	}
}
