package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/faultscore"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// frailSlurm has nodes that fail, and a history of them of which span seconds can be read at once.
type frailSlurm struct {
	fakeSlurm
	nodes  []slurm.Node
	reads  int // of the nodes
	span   int64
	asked  []int64 // how far back, days
	events []sacctmgr.Event
	broken error
	mute   int // how often the history cannot be read
}

func (s *frailSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.nodes, s.broken
}

func (s *frailSlurm) NodeEvents(_ context.Context, from int64) ([]sacctmgr.Event, error) {
	span := time.Now().Unix() - from
	if s.mute > 0 {
		s.mute--
		return nil, slurm.ErrUnavailable
	}
	s.asked = append(s.asked, (span+60)/86400)
	if span > s.span {
		return nil, slurm.ErrTooMuch
	}
	return s.events, s.broken
}

// frail returns a daemon that is not running, what it logs, and its Slurm.
func frail(t *testing.T, now func() time.Time, fake *frailSlurm) (*Daemon, *strings.Builder) {
	t.Helper()
	c, log := testConfig(t), &strings.Builder{}
	c.Watch.Refresh = config.Duration(5 * time.Minute)
	d, err := New(Options{Config: c, Slurm: fake, Now: now, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, log
}

func TestNodesFail(t *testing.T) {
	up, down := slurm.Node{Name: "a", State: "IDLE"}, slurm.Node{Name: "a", State: "DOWN", Reason: "Not responding", ReasonAt: time.Now().Unix()}
	fake := &frailSlurm{nodes: []slurm.Node{up}}
	now := time.Now()
	d, log := frail(t, func() time.Time { return now }, fake)
	tending := tending{Daemon: d, past: []sacctmgr.Event{{Node: "b", Start: 1_700_000_000, End: 1_700_000_900, State: "DOWN", Reason: "Not responding"}}}
	look := func(wanted string) {
		t.Helper()
		log.Reset()
		now = now.Add(tendEvery)
		if pause, err := tending.look(t.Context()); err != nil || pause != tendEvery {
			t.Fatalf("pause %v, %v", pause, err)
		}
		if wanted == "" && log.Len() > 0 || !strings.Contains(log.String(), wanted) {
			t.Errorf("log %q, want %q", log, wanted)
		}
	}
	look(`msg="the past of the nodes is taken in" events=1`)
	look("")
	fake.nodes[0] = slurm.Node{Name: "a", State: "MIXED+DRAIN", Reason: "upgrade"}
	look("")
	fake.nodes[0] = down
	look(`msg="nodes have failed" number=1 nodes=a`)
	look("")
	if s := d.nodes.Nodes(); len(s) != 1 || s[0].State != health.Down {
		t.Errorf("%+v", s)
	}
	fake.nodes = nil
	for i := range 30 {
		fake.nodes = append(fake.nodes, slurm.Node{Name: fmt.Sprintf("n%02d", i), State: "DOWN"})
	}
	look("number=30 nodes=n00,n01,n02,n03,n04,n05,n06,n07,n08,n09\n")

	fake.broken = slurm.ErrUnavailable
	if _, err := tending.look(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
		t.Error(err)
	}
}

// TestNodesWait: the nodes are not read while slurmrestd has been too busy, but as often as limits
// are.
func TestNodesWait(t *testing.T) {
	now := time.Now()
	fake := &frailSlurm{nodes: []slurm.Node{{Name: "a", State: "IDLE"}}}
	d, _ := frail(t, func() time.Time { return now }, fake)
	tending := tending{Daemon: d}
	after := func(pause, busy time.Duration, reads int) {
		t.Helper()
		end := d.looks.all.begin("queue", true)
		now = now.Add(busy)
		end(nil)
		now = now.Add(pause)
		if _, err := tending.look(t.Context()); err != nil || fake.reads != reads {
			t.Errorf("%d reads, want %d, %v", fake.reads, reads, err)
		}
	}
	after(0, time.Hour, 1)
	after(time.Minute, 0, 1)
	after(4*time.Minute, 0, 2)
	after(4*time.Minute, 0, 2)
	after(10000*time.Hour, 0, 3)
	after(time.Minute, 0, 4)
}

func TestPastOfNodes(t *testing.T) {
	fake := &frailSlurm{span: 100 * 86400, events: make([]sacctmgr.Event, 3)}
	d, _ := frail(t, nil, fake)
	if past, _, err := d.pastOfNodes(t.Context(), 0); err != nil || len(past) != 3 || fmt.Sprint(fake.asked) != "[1095 273 68]" {
		t.Errorf("%d events, asked for %v days, %v", len(past), fake.asked, err)
	}
	fake.span, fake.asked = 0, nil
	if _, _, err := d.pastOfNodes(t.Context(), 0); !errors.Is(err, slurm.ErrTooMuch) || len(fake.asked) != 6 {
		t.Errorf("asked for %v days, %v", fake.asked, err)
	}
}

// TestPastComesLater: what accounting tells only after some looks is learnt then.
func TestPastComesLater(t *testing.T) {
	now := time.Now()
	start := now.Unix() - 300*86400
	fake := &frailSlurm{nodes: []slurm.Node{{Name: "a", State: "IDLE"}, {Name: "b", State: "IDLE"}}, span: 4 * pastMost, mute: 2}
	for i := range int64(10) {
		at := start + i*30*86400
		fake.events = append(fake.events, sacctmgr.Event{Node: "b", Start: at, End: at + 900, State: "DOWN", Reason: "Not responding"})
	}
	d, log := frail(t, func() time.Time { return now }, fake)
	s := service{daemon: d}
	if _, err := s.Nodes(t.Context(), "root"); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("before the first look: %v", err)
	}
	tending := tending{Daemon: d, tries: mostTries}
	for looks, failures := range []int{0, 0, 10, 10} {
		now = now.Add(tendEvery)
		if _, err := tending.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := s.Nodes(t.Context(), "root")
		if err != nil || list.Failures != failures || len(list.Nodes) != 2 || failures > 0 && (list.Since != start || list.Nodes[0].Name != "b" || list.Nodes[0].Risk < 2*list.Nodes[1].Risk) {
			t.Errorf("look %d: %+v, %v", looks, list, err)
		}
	}
	if n := strings.Count(log.String(), "is not known"); n != 1 || tending.tries != 0 {
		t.Errorf("%d warnings, %d tries left", n, tending.tries)
	}
	fake.nodes[1].State = "DOWN"
	now = now.Add(tendEvery)
	if _, err := tending.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, _ := s.Nodes(t.Context(), "root"); list.Nodes[1].Name != "b" || list.Nodes[1].Risk != 0 {
		t.Errorf("a node that is down may fail: %+v", list.Nodes)
	}
}

// TestTend: the loop takes in the past of the nodes, and a site where that cannot be read has their
// present.
func TestTend(t *testing.T) {
	past := []sacctmgr.Event{{Node: "a", Start: 1_700_000_000, End: 1_700_000_900, State: "DOWN"}}
	for want, span := range map[string]int64{"taken in\" events=2\n": 4 * pastMost, "from now on\" error=\"too much at once\"\n": 0} {
		d, log := frail(t, nil, &frailSlurm{
			fakeSlurm: fakeSlurm{past: quick(100)}, span: span, events: past, nodes: []slurm.Node{{Name: "a", State: "IDLE+DRAIN", Reason: "x"}},
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		for began := time.Now(); len(d.nodes.Nodes()) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > patient {
				t.Fatal("the nodes are never looked at")
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if s := d.nodes.Nodes(); s[0].State != health.Drained || !strings.Contains(log.String(), want) {
			t.Errorf("%+v, log %q", s, log)
		}
	}
}

// job returns a job that runs on these nodes.
func job(nodes ...string) slurm.QueueEntry {
	return slurm.QueueEntry{Job: workload.Job{State: workload.Running, On: nodes}}
}

// TestFailuresAreScored: forecasts are scored by what varqd saw and by what accounting tells of
// when it was down. Where that cannot be read, a time in which varqd was down is not scored.
func TestFailuresAreScored(t *testing.T) {
	begin := time.Unix(20_000*86400, 0)
	for name, test := range map[string]struct {
		span                    int64 // that can be read of accounting, seconds
		rounds, failed, setsHit int
	}{
		"accounting tells":        {4 * pastMost, 5, 2*2 + 3, 5},
		"accounting tells nobody": {0, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin
			fake := &frailSlurm{nodes: []slurm.Node{{Name: "a", State: "IDLE"}, {Name: "b", State: "IDLE"}, {Name: "c", State: "IDLE+DRAIN", Reason: "x"}}, span: test.span}
			c := testConfig(t)
			open := func() *tending {
				d, err := New(Options{Config: c, Slurm: fake, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.Close() })
				d.running.Store(runningJobs([]slurm.QueueEntry{job("a", "b"), job("a", "b"), job("b", "c"), job("a"), job()}))
				return &tending{Daemon: d, tries: mostTries}
			}
			varqd := open()
			look := func(hours float64) {
				t.Helper()
				for until := begin.Add(time.Duration(hours * float64(time.Hour))); now.Before(until); now = now.Add(5 * time.Minute) {
					if _, err := varqd.look(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			look(7) // rounds at 0 and 6
			fake.nodes[0] = slurm.Node{Name: "a", State: "DOWN", Reason: "Not responding", ReasonAt: now.Unix() - 60}
			look(8)
			fake.nodes[0] = slurm.Node{Name: "a", State: "IDLE"}
			// What is over before varqd looks again only accounting tells.
			fake.events = []sacctmgr.Event{{Node: "b", Start: begin.Unix() + 10*3600, End: begin.Unix() + 10*3600 + 60, State: "DOWN", Reason: "Not responding"}}
			look(25) // of all rounds, that at 0 is over
			if err := varqd.Close(); err != nil {
				t.Fatal(err)
			}
			// While varqd is down b fails, and comes back.
			fake.events = append(fake.events, sacctmgr.Event{Node: "b", Start: begin.Unix() + 29*3600, End: begin.Unix() + 31*3600, State: "DOWN", Reason: "Not responding"})
			now = begin.Add(40 * time.Hour)
			varqd = open()
			look(62)
			got, err := (service{foretold: foretold{Store: varqd.rounds}}).NodesCalibration(t.Context(), api.NodesCalibrationQuery{})
			if err != nil || len(got.Rows) != 6 {
				t.Fatalf("%+v, %v", got, err)
			}
			for _, row := range got.Rows {
				forecasts, failed := 2*test.rounds, test.failed
				if row.Forecaster == faultscore.Sets {
					forecasts, failed = test.rounds, test.setsHit
				}
				if row.Forecasts != forecasts || row.Failed != failed || row.Expected <= 0 {
					t.Errorf("%+v, want %d forecasts, %d of which were followed by a failure", row, forecasts, failed)
				}
			}
		})
	}
}
