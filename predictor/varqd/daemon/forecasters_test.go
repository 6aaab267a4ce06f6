package daemon

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/live/extern"
	"github.com/varq-project/varq/predictor/live/faultscore"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// TestMain runs the test binary as a forecaster if its first argument is forecaster. It allows 6
// parallel tests, because those of a real Slurm mostly wait.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forecaster" {
		extern.Serve(&prompt{}, "prompt 1")
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "pessimist" {
		extern.ServeFaults(&pessimist{}, "pessimist 1")
		os.Exit(0)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// pessimist expects that the node that failed last fails again, and knows nothing of others.
type pessimist struct{ last string }

func (p *pessimist) Observe(e fault.Event) { p.last = e.Node }
func (p *pessimist) Expected(nodes []string, _, _ int64) []float64 {
	expected := make([]float64, len(nodes))
	for i := range nodes {
		if expected[i] = -1; nodes[i] == p.last {
			expected[i] = 3
		}
	}
	return expected
}

// A site's own forecaster of failures is told of the past, takes part in the risks, and is scored.
func TestOwnForecasterOfFailures(t *testing.T) {
	c := testConfig(t)
	c.Watch.Refresh = config.Duration(20 * time.Millisecond)
	c.Forecasters = []config.Forecaster{{Name: "pessimist", Command: os.Args[0] + " pessimist", Forecasts: config.ForecastsFailures, Timeout: config.Duration(patient)}}
	fake := &frailSlurm{
		fakeSlurm: fakeSlurm{past: quick(100)}, span: 4 * pastMost, nodes: []slurm.Node{{Name: "a", State: "IDLE"}, {Name: "b", State: "IDLE"}},
		events: []sacctmgr.Event{{Node: "b", Start: time.Now().Unix() - 9*86400, End: time.Now().Unix() - 8*86400, State: "DOWN", Reason: "Not responding"}},
	}
	d, err := New(Options{Config: c, Slurm: fake, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	s := service{daemon: d}
	within(t, func() bool {
		list, err := s.Nodes(t.Context(), "root")
		return err == nil && list.Nodes[0].Name == "b" && list.Nodes[0].Why == "what pessimist says" && list.Nodes[0].Risk > .009 && list.Nodes[1].Why != list.Nodes[0].Why
	})
	// Asked for while varqd runs: a look that is stopped may be without what the pessimist says.
	within(t, func() bool {
		said := d.forecasts([]health.Voice{{Name: "pessimist", Expected: map[string]float64{"b": 3}}}).Expected
		return len(said) == 7 && slices.Equal(said["pessimist"], []float64{-1, 3}) && said[faultscore.Blend][0] == said[faultscore.Model][0] && said[faultscore.Blend][1] > said[faultscore.Model][1]
	})
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// prompt forecasts that every job starts within a minute, once it knows the past.
type prompt struct{ starts int }

func (*prompt) Name() string            { return "prompt" }
func (*prompt) Submitted(*workload.Job) {}
func (p *prompt) Started(*workload.Job) { p.starts++ }
func (*prompt) Ended(*workload.Job)     {}
func (p *prompt) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	for i := range a.Wait {
		a.Wait[i] = min(1, (1+delay.At(i))/60)
	}
	a.Sample = float64(p.starts)
	return p.starts >= 500
}

// A site's own forecasters take part, health notes one that does not work, and the forecasts
// of all are scored.
func TestOwnForecasters(t *testing.T) {
	c := testConfig(t)
	c.Forecasters = []config.Forecaster{
		{Name: "prompt", Command: os.Args[0] + " forecaster", Timeout: config.Duration(patient)},
		{Name: "broken", Command: "/bin/false"},
	}
	fake := &fakeSlurm{past: quick(1000)}
	asking, _ := run(t, c, fake)
	eventually(t, asking, well)
	eventually(t, asking, func(h api.Health) bool {
		return len(h.Notes) == 1 && strings.HasPrefix(h.Notes[0], "forecaster broken is left out: it ")
	})
	p, err := asking.Predict(t.Context(), api.PredictRequest{Job: workload.Request{Limit: 600}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Components, func(m api.Component) bool { return m.Forecaster == "prompt" && m.Sample == 1000 }) {
		t.Errorf("of whom the prediction is blended: %+v", p.Components)
	}

	fake.runOne(t, asking)
	within(t, func() bool {
		scored, err := asking.Calibration(t.Context(), api.CalibrationQuery{})
		var names []string
		for _, r := range scored.Rows {
			names = append(names, r.Forecaster)
		}
		slices.Sort(names)
		return err == nil && slices.Equal(names, []string{"blend", "forest", "prompt", "qbets", "simulation"})
	})
	const counted = `varq_forecasts_scored_total{forecaster="blend",partition="main"} 1`
	// after it is stored
	within(t, func() bool { return strings.Contains(metrics(t, c.Server.Socket), counted) })
	text := metrics(t, c.Server.Socket)
	for _, line := range []string{
		`varq_forecaster_up{forecaster="prompt"} 1`, `varq_forecaster_starts_total{forecaster="prompt"} 1`,
		`varq_forecaster_up{forecaster="broken"} 0`, `varq_forecaster_failures_total{forecaster="broken",reason="late"} 0`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}

// The forecast of a job's end is made as the job begins to wait, and scored although varqd was away
// when it ended.
func TestEndsAreScored(t *testing.T) {
	c := testConfig(t)
	fake := &fakeSlurm{past: quick(100)}
	rows := func(asking *client.Client) (rows []string) {
		scored, err := asking.Calibration(t.Context(), api.CalibrationQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range scored.Rows {
			rows = append(rows, fmt.Sprint(r.Forecaster, " ", r.Of, " ", r.Forecasts))
		}
		return rows
	}
	asking, stop := run(t, c, fake)
	eventually(t, asking, well)
	entry := fake.runOne(t, asking)
	within(t, func() bool { return slices.Contains(rows(asking), "blend wait 1") })
	if before := rows(asking); slices.Contains(before, "completion end 1") {
		t.Errorf("before the end there is %v", before)
	}
	stop()

	fake.setQueue()
	entry.End, entry.State = entry.Start+60, workload.Completed
	fake.ended(entry.Job)
	asking, _ = run(t, c, fake)
	eventually(t, asking, well)
	within(t, func() bool {
		after := rows(asking)
		return slices.Contains(after, "blend wait 1") && after[len(after)-1] == "completion end 1"
	})
	if text := metrics(t, c.Server.Socket); !strings.Contains(text, `varq_forecasts_scored_total{forecaster="completion",partition="main"} 1`) {
		t.Error("/metrics lacks the score of the end")
	}
}

// runOne lets a job wait until varqd has seen it, and then run. It returns what the queue shows of
// it.
func (s *fakeSlurm) runOne(t *testing.T, asking *client.Client) slurm.QueueEntry {
	t.Helper()
	entry := slurm.QueueEntry{Job: quick(1)[0]}
	entry.ID, entry.Start, entry.End, entry.State = 7000, 0, 0, workload.Pending
	entry.Submit = time.Now().Unix()
	entry.Eligible = entry.Submit
	s.setQueue(entry)
	within(t, func() bool {
		p, err := asking.Predict(t.Context(), api.PredictRequest{Job: workload.Request{Limit: 600}})
		return err == nil && p.Waiting == 1
	})
	entry.Start, entry.State = entry.Eligible+1, workload.Running
	s.setQueue(entry)
	return entry
}

// within waits until so returns true, at most for patient.
func within(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never comes true")
		}
	}
}

// A site's own forecaster cannot have the name of a standard one.
func TestBuiltInNames(t *testing.T) {
	blend := predictor.Standard(new(queue.Queue), predictor.Options{}, rand.New(rand.NewPCG(1, 1)))
	names := append(fault.Voters[:], faultscore.Blend, faultscore.Model, faultscore.Sets, completion.Name)
	for _, f := range append(blend.Experts(), blend) {
		names = append(names, f.Name())
	}
	for _, name := range names {
		if _, err := config.Parse("varq.yaml", []byte("forecasters: [{name: "+name+", command: /x}]")); err == nil {
			t.Errorf("the name %s is accepted", name)
		}
	}
}
