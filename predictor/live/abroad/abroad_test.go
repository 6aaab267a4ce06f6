package abroad

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/tariff"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/workload"
)

// epoch is the clock of the tests, the begin of an interval of idle nodes.
const epoch = 1_795_266_000

// fakeSource is a cluster of 4 nodes with 10 processors each. A test can make it fail, or wait.
type fakeSource struct {
	silent  bool // it does not tell its default partition
	mu      sync.Mutex
	jobs    []workload.Job
	failure error
	wait    chan struct{} // if not nil, what is asked for comes when it is closed
	looks   atomic.Int32  // at the queue
}

func (f *fakeSource) answer(ctx context.Context) error {
	f.mu.Lock()
	failure, wait := f.failure, f.wait
	f.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failure
}

func (f *fakeSource) set(failure error, wait chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure, f.wait = failure, wait
}

func (f *fakeSource) Layout(ctx context.Context) (limits.Cluster, error) {
	main := limits.Partition{Name: "main", Default: true, Up: true, MaxTime: 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 40, Nodes: []string{"a", "b", "c", "d"}}
	main.Default = !f.silent
	closed := limits.Partition{Name: "closed", MaxTime: limits.None, MaxNodes: limits.None}
	return limits.Cluster{Partitions: map[string]limits.Partition{"main": main, "closed": closed}}, f.answer(ctx)
}

func (f *fakeSource) Nodes(ctx context.Context) ([]slurm.Node, error) {
	var nodes []slurm.Node
	for _, name := range []string{"a", "b", "c", "d"} {
		nodes = append(nodes, slurm.Node{Name: name, CPUs: 10, Partitions: []string{"main"}, Up: true, State: "IDLE"})
	}
	return nodes, f.answer(ctx)
}

func (f *fakeSource) EachJob(ctx context.Context, use func(*slurm.QueueEntry) error) error {
	f.looks.Add(1)
	for i := range f.jobs {
		if err := use(&slurm.QueueEntry{Job: f.jobs[i]}); err != nil {
			return err
		}
	}
	return f.answer(ctx)
}

// clock is a clock that tests move.
type clock struct{ atomic.Int64 }

// newSite returns a site that is being read until the test ends.
func newSite(t *testing.T, source Source, method string) (*Site, *clock) {
	t.Helper()
	s, now := unreadSite(t, source, method)
	s.patience = time.Hour // however busy the machine is
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return s, now
}

func unreadSite(t *testing.T, source Source, method string) (*Site, *clock) {
	t.Helper()
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	week, err := tariff.ParseWeek(nil)
	if err != nil {
		t.Fatal(err)
	}
	prices, err := tariff.New(tariff.Config{UnitCost: 2, UnitSeconds: 3600, Scale: week, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	now := &clock{}
	now.Store(epoch)
	return New(Options{
		Name: "beta", Source: source, Method: method, Scale: esr.PaperScale, Prob: .9, Tariff: prices, Unit: "EUR", Idle: idle.NewStore(file),
		Now: now.Load, Zone: time.UTC, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}), now
}

func request() *api.ProbeRequest {
	return &api.ProbeRequest{
		Job: workload.Request{Account: "chem"}, Sizes: []api.Size{{Size: workload.Size{Nodes: 2, CPUs: 20}, Limit: 3600}},
		Latest: epoch + 7200, Slots: 3, Gap: 600,
	}
}

// A site says what the method can tell, at the price of its tariff.
func TestProbe(t *testing.T) {
	busy := []workload.Job{ // until 2700 s from now: half of 7200 s minus half of 1800 s
		{ID: 1, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 40}, Limit: 7200}, Eligible: epoch - 1800, Start: epoch - 1800},
	}
	for method, c := range map[string]struct {
		prob   float64
		starts []int64
		rates  []float64
		reason string
	}{
		esr.MethodLoad:    {starts: []int64{3605, 7200}, rates: []float64{.99, .99}},
		esr.MethodHistory: {starts: []int64{10, 3605, 7200}, rates: []float64{.99, .99, .99}},
		esr.MethodStatic:  {prob: .3, starts: []int64{7200}, rates: []float64{esr.Static(7200, esr.PaperScale)}},
		"static, and too much is wanted": {
			reason: "by the method static the success rate is 0.33 at best, and 0.90 is asked for",
		},
	} {
		name, _, _ := strings.Cut(method, ",")
		s, now := newSite(t, &fakeSource{jobs: busy}, name)
		for hour := range int64(24) {
			if err := s.Idle.Record(t.Context(), "beta", epoch+hour*3600, map[string]int{"main": 4}); err != nil {
				t.Fatal(err)
			}
		}
		now.Store(epoch)
		req := request()
		req.Prob, req.ESR = c.prob, true
		a, err := s.Probe(t.Context(), "alice", req)
		if err != nil {
			t.Fatal(err)
		}
		want := api.ProbeAnswer{Slots: []api.Slot{}, Unit: "EUR", Read: epoch}
		if c.reason != "" {
			want.Reasons = []string{c.reason}
		}
		for i, start := range c.starts {
			start += epoch
			slot := api.Slot{
				Partition: "main", Start: start, End: start + 3600, Nodes: 2, Limit: 3600, Prob: c.rates[i], Estimate: c.rates[i], Method: name,
				Work: api.Cost{NodeSeconds: 7200, BillingSeconds: 72000}, Cost: 40, ESR: &api.ESR{Static: esr.Static(start-epoch, esr.PaperScale), History: new(1.)},
			}
			if start >= epoch+2700 {
				slot.ESR.Load = 1
			}
			want.Slots = append(want.Slots, slot)
		}
		if diff := cmp.Diff(want, a, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
		if state := s.State(); !state.OK || state.Since != epoch || state.Method != name || state.Error != "" {
			t.Errorf("%+v", state)
		}
	}
}

// The first slot of a window that has begun is as far ahead as submission takes, and one that is
// over sooner has a slot nevertheless.
func TestFirstSlot(t *testing.T) {
	s, _ := newSite(t, &fakeSource{}, esr.MethodLoad)
	for latest, want := range map[int64]int64{7200: elastic.SubmissionTime, 30: elastic.SubmissionTime, 4: 4} {
		req := request()
		req.Latest = epoch + latest
		a, err := s.Probe(t.Context(), "alice", req)
		if err != nil || len(a.Slots) == 0 || a.Slots[0].Start != epoch+want {
			t.Errorf("up to %d s from now: %+v, %v", latest, a, err)
		}
	}
}

// What has no slot has a reason.
func TestProbeReasons(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *api.ProbeRequest)
		why    string
	}{
		"the window has passed": {func(r *api.ProbeRequest) { r.Latest = epoch - 10 }, "the window is too short for the work, or has passed"},
		"too many nodes":        {func(r *api.ProbeRequest) { r.Sizes[0].Nodes = 5 }, "partition main has 4 nodes"},
		"too long":              {func(r *api.ProbeRequest) { r.Sizes[0].Limit = 90000 }, "partition main allows 1-00:00:00 (MaxTime)"},
		"no such partition":     {func(r *api.ProbeRequest) { r.Partitions = []string{"gone"} }, `no partition "gone" (there are closed, main)`},
		"closed":                {func(r *api.ProbeRequest) { r.Partitions = []string{"closed"} }, "partition closed is down"},
		"no such feature":       {func(r *api.ProbeRequest) { r.Needs = &workload.Needs{Constraint: "gold"} }, "only 0 nodes of partition main are in service and fit the job"},
	} {
		s, _ := newSite(t, &fakeSource{}, esr.MethodLoad)
		req := request()
		c.change(req)
		a, err := s.Probe(t.Context(), "alice", req)
		if err != nil || len(a.Slots) > 0 || len(a.Reasons) != 1 || a.Reasons[0] != c.why {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	s, _ := newSite(t, &fakeSource{}, esr.MethodHistory)
	req := request()
	req.Earliest = epoch + 1800 // now is recorded already
	if a, err := s.Probe(t.Context(), "alice", req); err != nil || len(a.Reasons) != 1 || a.Reasons[0] != "the method history knows nothing yet of these times of day" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Of more reasons than are told the last is, and how many there are.
func TestManyReasons(t *testing.T) {
	s, _ := newSite(t, &fakeSource{}, esr.MethodLoad)
	req := request()
	req.Sizes = nil
	for nodes := range int32(18) {
		req.Sizes = append(req.Sizes, api.Size{Size: workload.Size{Nodes: 5 + nodes, CPUs: 5 + nodes}, Limit: 3600})
	}
	a, err := s.Probe(t.Context(), "alice", req)
	if err != nil || len(a.Reasons) != elastic.MostReasons || a.Reasons[0] != "5 nodes: partition main has 4 nodes" ||
		a.Reasons[elastic.MostReasons-1] != "3 more, of which the last is: 22 nodes: partition main has 4 nodes" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Of a window that is shorter than the gap both ends are looked at.
func TestProbeOfAShortWindow(t *testing.T) {
	busy := []workload.Job{{ID: 1, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 40}, Limit: 7200}, Eligible: epoch - 1800, Start: epoch - 1800}}
	s, _ := newSite(t, &fakeSource{jobs: busy}, esr.MethodLoad)
	req := request()
	req.Gap = 86400
	if a, err := s.Probe(t.Context(), "alice", req); err != nil || len(a.Slots) != 1 || a.Slots[0].Start != req.Latest {
		t.Errorf("%+v, %v", a, err)
	}
}

// A picture serves for a minute, and where the cluster does not answer any more for two. Its age is
// told.
func TestPictures(t *testing.T) {
	source, silent := &fakeSource{}, errors.New("no route to host")
	s, now := unreadSite(t, source, esr.MethodLoad)
	s.patience = time.Hour
	go func() { // as Run does, without its own readings, between which the clock would jump
		for {
			select {
			case <-t.Context().Done():
				return
			case <-s.asked:
				s.read(t.Context())
			}
		}
	}()
	for i, c := range []struct {
		at      int64
		failure error
		looks   int32
		read    int64 // when the picture was made
		said    string
	}{
		{0, nil, 1, 0, ""}, {59, nil, 1, 0, "it is judged by its queue as it was 59 s ago"}, {60, nil, 2, 60, ""},
		{125, silent, 2, 60, "it is judged by its queue as it was 65 s ago: its slurmrestd has not answered as it should for 65 s: no route to host"},
		// it is left alone
		{135, silent, 2, 60, "it is judged by its queue as it was 75 s ago: its slurmrestd has not answered as it should for 75 s: no route to host"},
		{179, silent, 2, 60, "it is judged by its queue as it was 119 s ago: its slurmrestd has not answered as it should for 119 s: no route to host"},
		{180, silent, 2, -1, "nothing is known of site beta: its slurmrestd has not answered as it should for 2 minutes: no route to host"},
		{659, silent, 2, -1, "nothing is known of site beta: its slurmrestd has not answered as it should for 9 minutes: no route to host"},
		{800, nil, 3, 800, ""},
	} {
		now.Store(epoch + c.at)
		source.set(c.failure, nil)
		a, err := s.Probe(t.Context(), "alice", request())
		switch {
		case c.read < 0 && (err == nil || err.Error() != c.said || !errors.Is(err, api.ErrUnavailable)):
			t.Errorf("%d: %v", i, err)
		case c.read >= 0 && (err != nil || a.Read != epoch+c.read || a.Note != c.said || len(a.Slots) == 0):
			t.Errorf("%d: read at %d, %q, %v", i, a.Read-epoch, a.Note, err)
		}
		if looks := source.looks.Load(); looks != c.looks {
			t.Errorf("%d: %d looks at the queue", i, looks)
		}
	}
	if state := s.State(); !state.OK || state.Since != epoch+800 {
		t.Errorf("%+v", state)
	}
}

// A probe does not wait for a cluster that has not answered for some seconds.
func TestNeverAnswers(t *testing.T) {
	source, wait := &fakeSource{}, make(chan struct{})
	source.set(nil, wait)
	s, now := unreadSite(t, source, esr.MethodLoad)
	s.patience = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	defer running.Wait()
	defer cancel()
	const unread = "nothing is known of site beta: its slurmrestd has not answered yet"
	if _, err := s.Probe(t.Context(), "alice", request()); err == nil || err.Error() != unread {
		t.Error(err)
	}
	now.Store(epoch + 30)
	if _, err := s.Probe(t.Context(), "alice", request()); err == nil || err.Error() != unread {
		t.Error(err)
	}
	close(wait)
	// As soon as it answers, so does the probe, unless it has given up.
	now.Store(epoch + 1000)
	for {
		if a, err := s.Probe(t.Context(), "alice", request()); err == nil && len(a.Slots) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// A slurmrestd that hangs after it has answered is as silent as one that says so.
func TestHangs(t *testing.T) {
	source, wait := &fakeSource{}, make(chan struct{})
	defer close(wait)
	s, now := unreadSite(t, source, esr.MethodLoad)
	s.patience = time.Millisecond
	s.read(t.Context())
	source.set(nil, wait)
	for at, want := range map[int64]string{
		70:  "it is judged by its queue as it was 70 s ago: its slurmrestd has not answered for 70 s",
		400: "nothing is known of site beta: its slurmrestd has not answered for 6 minutes",
	} {
		now.Store(epoch + at)
		s.begin() // as Run does, which then waits
		a, err := s.Probe(t.Context(), "alice", request())
		if said := a.Note; err == nil && said != want || err != nil && (err.Error() != want || len(a.Slots) > 0) {
			t.Errorf("%d: %q, %v", at, said, err)
		}
	}
}

// A slurmrestd that answers garbage, an endless list, or a queue that is too long, is told and does
// no harm.
func TestBadSlurmrestd(t *testing.T) {
	const limit = 1 << 20
	endless := func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"jobs":[`)
		for range limit {
			if _, err := fmt.Fprint(w, `{"job_id":1,"job_state":"PENDING","submit_time":1,"eligible_time":1,"start_time":0,"time_limit":1},`); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		jobs func(w http.ResponseWriter)
		why  string
	}{
		"garbage":   {func(w http.ResponseWriter) { fmt.Fprint(w, "\x00\x01<html>") }, "bad answer"},
		"nothing":   {func(w http.ResponseWriter) { fmt.Fprint(w, "{}") }, `it has no field "jobs"`},
		"a failure": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "500"},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://else")
			w.WriteHeader(http.StatusFound)
		}, "302"},
		"half an answer": {func(w http.ResponseWriter) { fmt.Fprint(w, `{"jobs":[{"job_id":1`) }, "cut short"},
		"too much":       {endless, "the answer is too long"},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /openapi", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"info":{},"paths":{"/slurm/v0.0.38/jobs/":{"get":{}},"/slurmdb/v0.0.38/jobs/":{"get":{}}}}`)
		})
		mux.HandleFunc("GET /slurm/v0.0.38/{name}", func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("name") == "jobs" {
				c.jobs(w)
				return
			}
			http.ServeFile(w, r, filepath.Join("..", "..", "slurm", "slurmrestd", "testdata", "v0.0.38", "slurm_"+r.PathValue("name")+".json"))
		})
		server := httptest.NewServer(mux)
		client, err := slurmrestd.New(slurmrestd.Options{URL: server.URL, MaxAnswer: limit})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := newSite(t, client, esr.MethodLoad)
		_, err = s.Probe(t.Context(), "alice", request())
		if err == nil || !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
		if state := s.State(); state.OK || !strings.Contains(state.Error, c.why) {
			t.Errorf("%s: %+v", name, state)
		}
		client.Close()
		server.Close()
	}
}

func TestLongQueue(t *testing.T) {
	source := &fakeSource{jobs: make([]workload.Job, mostJobs+1)}
	s, _ := newSite(t, source, esr.MethodLoad)
	if _, err := s.Probe(t.Context(), "alice", request()); err == nil || !strings.HasSuffix(err.Error(), "its queue has more than 200000 jobs") {
		t.Error(err)
	}
}

// Where slurmrestd does not tell the default partition, varq.yaml may.
func TestDefaultPartition(t *testing.T) {
	s, _ := newSite(t, &fakeSource{silent: true}, esr.MethodLoad)
	a, err := s.Probe(t.Context(), "alice", request())
	if err != nil || len(a.Slots) != 0 || len(a.Reasons) != 1 || a.Reasons[0] != "its slurmrestd does not tell the default partition: name one by --partitions" {
		t.Errorf("%+v, %v", a, err)
	}
	s, _ = unreadSite(t, &fakeSource{silent: true}, esr.MethodLoad)
	s.Partition = "main"
	s.read(t.Context())
	if a, err = s.Probe(t.Context(), "alice", request()); err != nil || len(a.Slots) == 0 || a.Slots[0].Partition != "main" {
		t.Errorf("%+v, %v", a, err)
	}
}
