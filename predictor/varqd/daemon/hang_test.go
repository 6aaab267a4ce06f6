package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// stubborn is a forecaster that answers once it is let.
type stubborn struct {
	asked sync.Once
	begun chan struct{} // closed when it is asked first
	let   chan struct{} // closed to let it answer
}

func (*stubborn) Name() string { return "stubborn" }
func (s *stubborn) Forecast(*forecast.Question, *forecast.Answer) bool {
	s.asked.Do(func() { close(s.begun) })
	<-s.let
	return false
}
func (*stubborn) Submitted(*workload.Job) {}
func (*stubborn) Started(*workload.Job)   {}
func (*stubborn) Ended(*workload.Job)     {}

// While nobody gets an answer of the model, varqd tells how it is, and gives systemd no sign of
// life.
func TestModelThatHangs(t *testing.T) {
	systemd := hear(t)
	d, err := New(Options{Config: testConfig(t), Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := &stubborn{begun: make(chan struct{}), let: make(chan struct{})}
	d.outlook = outlook.New(outlook.Options{SiteForecasters: []forecast.Forecaster{s}, Confidence: .95, Now: d.clock.now})
	m := d.outlook.NewModel(nil)
	if err := m.Learn(t.Context(), quick(100), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()
	var hung sync.WaitGroup
	hung.Go(func() { d.outlook.Predict(quick(1)[0].Request, 0) }) // reads, and does not end
	<-s.begun
	aging := make(chan struct{})
	// waits to write, and whoever reads then waits for it
	hung.Go(func() { close(aging); m.Hear(expert.News{}) })
	<-aging
	for began := time.Now(); time.Since(began) < 100*time.Millisecond; time.Sleep(time.Millisecond) {
		hung.Go(func() { d.outlook.Queue() })
	}
	hung.Go(d.pulse)
	if h := (service{daemon: d}).Health(t.Context()); h.History != 100 {
		t.Errorf("while the model hangs: %+v", h)
	}
	if systemd.has("WATCHDOG=1") {
		t.Error("a sign of life while the model hangs")
	}
	close(s.let)
	hung.Wait()
	systemd.await(t, "WATCHDOG=1")
}

// A daemon whose loops do not end stops all the same.
func TestEnded(t *testing.T) {
	var running sync.WaitGroup
	if err := ended(t.Context(), &running); err != nil {
		t.Error(err)
	}
	let := make(chan struct{})
	running.Go(func() { <-let })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ended(over, &running); !errors.Is(err, errUnended) {
		t.Errorf("while a loop hangs: %v", err)
	}
	close(let)
	running.Wait()
}

// clients ask about ends at the same time in TestFinishBySoak, each asksEach times.
const (
	soakClients = 16
	asksEach    = 12
)

// However many ask about the ends of jobs while the queue is looked at, jobs come, start and end,
// running jobs are placed and new models learn, everybody is answered.
func TestFinishBySoak(t *testing.T) {
	c := testConfig(t)
	fake := &fakeSlurm{past: quick(400)}
	asking, _ := run(t, c, fake)
	eventually(t, asking, well)
	ctx, done := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	// at each look some jobs have come, some start on a node, and some have ended
	beside.Go(func() {
		now := time.Now().Unix()
		for i := int64(0); ctx.Err() == nil; i++ {
			var queue []slurm.QueueEntry
			for n := range int64(20) {
				j := quick(1)[0]
				j.ID, j.Submit, j.Eligible, j.Start, j.End, j.State = 10_000+i+n, now-60, now-60, 0, 0, workload.Pending
				e := slurm.QueueEntry{Job: j}
				if n < 10 {
					e.Start, e.State, e.On = now-30, workload.Running, []string{fmt.Sprintf("n%d", n)}
				}
				queue = append(queue, e)
			}
			fake.setQueue(queue...)
			time.Sleep(5 * time.Millisecond)
		}
	})
	beside.Go(func() {
		for ctx.Err() == nil {
			if h, err := asking.Health(ctx); ctx.Err() == nil && (err != nil || h.Version == "") {
				t.Errorf("health %+v, %v", h, err)
			}
		}
	})
	var clients sync.WaitGroup
	for n := range soakClients {
		one := ask(t, c)
		clients.Go(func() {
			for i := range asksEach {
				r := planRequest()
				r.FinishBy, r.BeginBy, r.Prob = r.BeginBy, 0, .5
				var err error
				if promise := (n+i)%4 == 0; promise {
					_, err = one.Plan(t.Context(), r)
				} else {
					_, err = one.Quote(t.Context(), r)
				}
				if err != nil {
					t.Errorf("client %d, request %d: %v", n, i, err)
					return
				}
			}
		})
	}
	clients.Wait()
	done()
	beside.Wait()
}
