package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// fakeSlurm is a cluster with an empty queue and a past.
type fakeSlurm struct {
	past  []workload.Job
	gate  chan struct{} // if not nil, history is held back until it is closed
	mu    sync.Mutex
	away  bool
	queue []slurm.QueueEntry
}

func (s *fakeSlurm) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return slurm.ErrUnavailable
	}
	return nil
}

func (s *fakeSlurm) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *fakeSlurm) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		if err := s.err(); err != nil {
			yield(workload.Job{}, err)
			return
		}
		s.mu.Lock()
		past := s.past
		s.mu.Unlock()
		for i, half := range [][]workload.Job{past[:len(past)/2], past[len(past)/2:]} {
			for _, j := range half {
				if !yield(j, nil) {
					return
				}
			}
			progress(slurm.Progress{From: from, To: to, Complete: from + (to-from)*int64(i+1)/2})
			if i == 0 && s.gate != nil {
				select {
				case <-s.gate:
				case <-ctx.Done():
					yield(workload.Job{}, ctx.Err())
					return
				}
			}
		}
	}
}

func (s *fakeSlurm) Queue(context.Context) ([]slurm.QueueEntry, error) {
	err := s.err()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queue), err
}

func (s *fakeSlurm) setQueue(queue ...slurm.QueueEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = queue
}

// ended adds a job to the past.
func (s *fakeSlurm) ended(j workload.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = append(slices.Clone(s.past), j)
}

func (s *fakeSlurm) Job(context.Context, int64) (slurm.QueueEntry, error) {
	return slurm.QueueEntry{}, slurm.ErrNotFound
}
func (s *fakeSlurm) Clock(context.Context) (ahead, uncertainty time.Duration, err error) {
	return 0, 0, s.err()
}
func (s *fakeSlurm) Update(context.Context, slurm.Update) error { return s.err() }
func (s *fakeSlurm) Cancel(context.Context, int64) error        { return s.err() }
func (s *fakeSlurm) Ended(context.Context, int64) (workload.Job, error) {
	return workload.Job{}, slurm.ErrNotFound
}
func (s *fakeSlurm) Accounted(context.Context, int64) ([]workload.Job, error) {
	return nil, s.err()
}
func (s *fakeSlurm) AccountedAll(context.Context, []int64) (map[int64][]workload.Job, error) {
	return nil, s.err()
}
func (s *fakeSlurm) Operators(context.Context) ([]string, error) { return nil, s.err() }
func (s *fakeSlurm) NodeEvents(context.Context, int64) ([]sacctmgr.Event, error) {
	return nil, s.err()
}
func (s *fakeSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	nodes := make([]slurm.Node, 64)
	for i := range nodes {
		nodes[i] = slurm.Node{Name: fmt.Sprintf("n%d", i), CPUs: 64, Partitions: []string{"main"}, Up: true}
	}
	return nodes, s.err()
}
func (s *fakeSlurm) Cluster(context.Context) (limits.Cluster, error) {
	nodes := make([]string, 64)
	for i := range nodes {
		nodes[i] = fmt.Sprintf("n%d", i)
	}
	return limits.Cluster{Partitions: map[string]limits.Partition{
		"main": {Name: "main", Default: true, Up: true, MaxTime: 7 * 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 4096, Nodes: nodes},
	}}, s.err()
}

// quick returns n one-node jobs that hardly waited, one every ten minutes until
// now.
func quick(n int) []workload.Job {
	now := time.Now().Unix()
	jobs := make([]workload.Job, n)
	for i := range jobs {
		at := now - int64(n-i)*600
		jobs[i] = workload.Job{
			ID: int64(i + 1), Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 24 * 3600},
			Submit: at, Eligible: at, Start: at + int64(i%7), End: at + 300, State: workload.Completed,
		}
	}
	return jobs
}

func testConfig(t testing.TB) config.Config {
	c := config.Default()
	dir := t.TempDir()
	c.Server.Socket = filepath.Join(dir, "socket")
	c.Server.Listen = "127.0.0.1:0"
	c.Ledger.Path = filepath.Join(dir, "ledger.db")
	c.History.Path = filepath.Join(dir, "history.db")
	c.Watch.Interval, c.Watch.Idle, c.Watch.Refresh = config.Duration(20*time.Millisecond), config.Duration(20*time.Millisecond), config.Duration(50*time.Millisecond)
	return c
}

// run starts a daemon, and returns a client and a function that stops the daemon.
func run(t testing.TB, c config.Config, fake Slurm) (asking *client.Client, stop func()) {
	t.Helper()
	d, err := New(Options{Config: c, Slurm: fake, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, c), serve(t, d)
}

// serve runs a daemon until the test ends, or stop is called.
func serve(t testing.TB, d *Daemon) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Run(ctx), d.Close()) }()
	stop = sync.OnceFunc(func() {
		// as signal.NotifyContext of Go 1.26.0 says
		cancel(errors.New("terminated signal received"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// ask returns a client of the daemon that c configures.
func ask(t testing.TB, c config.Config) *client.Client {
	t.Helper()
	asking, err := client.New("unix://"+c.Server.Socket, "")
	if err != nil {
		t.Fatal(err)
	}
	asking.Timeout = patient
	return asking
}

// patient is how long anything may take before it counts as hanging. Only a failing test
// takes that long.
const patient = 5 * time.Minute

// eventually waits until varqd's health satisfies a condition.
func eventually(t testing.TB, asking *client.Client, pleases func(api.Health) bool) api.Health {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		h, err := asking.Health(t.Context())
		if err == nil && pleases(h) {
			return h
		}
		if time.Since(began) > patient {
			t.Fatalf("health %+v, %v", h, err)
		}
	}
}

func well(h api.Health) bool { return h.OK }

func planRequest() api.PlanRequest {
	return api.PlanRequest{
		Job:     workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
		BeginBy: time.Now().Unix() + 12*3600, Prob: .9,
	}
}

func TestAnswersWhileLoading(t *testing.T) {
	fake := &fakeSlurm{past: quick(1000), gate: make(chan struct{})}
	asking, _ := run(t, testConfig(t), fake)
	// the past has become a little longer since the fake was made
	half := regexp.MustCompile(`reads its past \((49|50) %\)`)
	eventually(t, asking, func(h api.Health) bool { return !h.OK && half.MatchString(strings.Join(h.Problems, " ")) })
	if _, err := asking.Plan(t.Context(), planRequest()); err == nil || !half.MatchString(err.Error()) {
		t.Errorf("a plan while loading: %v", err)
	}
	if _, err := asking.Reservations(t.Context(), api.ReservationsQuery{}); err != nil {
		t.Errorf("the list while loading: %v", err)
	}
	close(fake.gate)
	h := eventually(t, asking, well)
	if h.History != 1000 || h.Newest == 0 {
		t.Errorf("health %+v", h)
	}
	answer, err := asking.Plan(t.Context(), planRequest())
	if err != nil || answer.Plan == nil {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestGoesOnAfterAStopAndWithSlurmAway(t *testing.T) {
	c := testConfig(t)
	fake := &fakeSlurm{past: quick(1000)}
	asking, stop := run(t, c, fake)
	eventually(t, asking, well)
	answer, err := asking.Plan(t.Context(), planRequest())
	if err != nil || answer.Plan == nil {
		t.Fatalf("%+v, %v", answer, err)
	}
	fake.setAway(true)
	eventually(t, asking, func(h api.Health) bool { return len(h.Problems) >= 3 })
	// The state read before is recent enough for promises.
	if again, err := asking.Plan(t.Context(), planRequest()); err != nil || again.Plan == nil {
		t.Errorf("with Slurm away for a moment: %+v, %v", again, err)
	}
	stop()
	asking, _ = run(t, c, fake)
	eventually(t, asking, func(h api.Health) bool { return !h.OK && strings.Contains(strings.Join(h.Problems, "\n"), "queue: ") })
	if _, err := asking.Plan(t.Context(), planRequest()); err == nil || !strings.Contains(err.Error(), "slurmrestd does not answer varqd") {
		t.Errorf("started with Slurm away: %v", err)
	}
	list, err := asking.Reservations(t.Context(), api.ReservationsQuery{})
	if err != nil || len(list) != 2 || list[0].ID != answer.Plan.ID && list[1].ID != answer.Plan.ID {
		t.Errorf("after a restart: %+v, %v", list, err)
	}
	fake.setAway(false)
	eventually(t, asking, well)
}

// A daemon whose ledger holds odds of many missed promises promises nothing, and keeps them. A
// daemon with an empty ledger makes promises, and has no odds as long as no job has started.
func TestRemembersWhatBecameOfPromises(t *testing.T) {
	var missed []forecast.Odds
	for i := range 4 {
		missed = append(missed, forecast.Odds{Range: i, Missed: 1e9, Expected: 1})
	}
	for _, known := range [][]forecast.Odds{nil, missed} {
		c := testConfig(t)
		file, err := statefile.Open(c.Ledger.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		stored := scores.New(file)
		if err := stored.SetOdds(t.Context(), known); err != nil {
			t.Fatal(err)
		}
		asking, _ := run(t, c, &fakeSlurm{past: quick(250)})
		eventually(t, asking, well)
		answer, err := asking.Plan(t.Context(), planRequest())
		if err != nil || (answer.Plan == nil) != (known != nil) {
			t.Errorf("with the odds %v: %+v, %v", known, answer, err)
		}
		for deadline := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
			odds, err := stored.Odds(t.Context())
			if err == nil && len(odds) == len(known) {
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("written down is %v, %v", odds, err)
			}
		}
	}
}

func TestManyPlansAtOnce(t *testing.T) {
	c := testConfig(t)
	asking, _ := run(t, c, &fakeSlurm{past: quick(1000)})
	eventually(t, asking, well)
	var wg sync.WaitGroup
	for range 8 {
		one := ask(t, c)
		for range 4 {
			wg.Go(func() {
				r := planRequest()
				r.BeginBy -= 11 * 3600
				if a, err := one.Plan(t.Context(), r); err != nil || a.Plan == nil {
					t.Errorf("%+v, %v", a, err)
				}
			})
		}
	}
	wg.Wait()
	list, err := asking.Reservations(t.Context(), api.ReservationsQuery{})
	if err != nil || len(list) != 32 {
		t.Errorf("%d promises in the ledger, %v", len(list), err)
	}
}

func TestTwoDaemons(t *testing.T) {
	c := testConfig(t)
	asking, _ := run(t, c, &fakeSlurm{past: quick(100)})
	eventually(t, asking, well)
	sameSocket := testConfig(t)
	sameSocket.Server.Socket = c.Server.Socket
	d, err := New(Options{Config: sameSocket, Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another process answers") {
		t.Errorf("a second daemon on the same socket: %v", err)
	}
	other := testConfig(t)
	second, _ := run(t, other, &fakeSlurm{past: quick(100)})
	eventually(t, second, well)
}

// Two daemons do not keep the promises of one ledger, whatever it is called.
func TestTwoDaemonsOnOneLedger(t *testing.T) {
	c := testConfig(t)
	_, stop := run(t, c, &fakeSlurm{past: quick(100)})
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(c.Ledger.Path, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{c.Ledger.Path, link} {
		other := testConfig(t)
		other.Ledger.Path = path
		d, err := New(Options{Config: other, Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
		if !errors.Is(err, statefile.ErrLocked) || !strings.Contains(err.Error(), c.Ledger.Path) {
			t.Errorf("a second daemon on %s: %v", path, err)
		}
		if d != nil {
			d.Close()
		}
	}
	stop()
	again, _ := run(t, c, &fakeSlurm{past: quick(100)})
	eventually(t, again, well)
}

func TestMetrics(t *testing.T) {
	c := testConfig(t)
	asking, _ := run(t, c, &fakeSlurm{past: quick(1000)})
	eventually(t, asking, well)
	if _, err := asking.Plan(t.Context(), planRequest()); err != nil {
		t.Fatal(err)
	}
	text := metrics(t, c.Server.Socket)
	for _, line := range []string{
		"varq_promises_total 1", "varq_history_jobs 1000", `varq_reservations{state="PROMISED"} 1`,
		`varq_request_seconds_count{path="/v1/plans",status="200"} 1`, "varq_refusals_total 0", "varq_replans_total 0",
		`varq_promises_settled_total{band="0.9-0.95",outcome="kept"} 0`, "varq_ledger_write_errors_total 0", `varq_queue_jobs{state="waiting"} 0`,
		`varq_look_seconds_count{read="queue"} `, `varq_slurmrestd_request_seconds_count{outcome="answered",request="history"} `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}

// However often anybody reads the metrics, the ledger is searched once a minute.
func TestMetricsDoNotSearchTheLedger(t *testing.T) {
	clock, counts := time.Unix(1_800_000_000, 0), 0
	var failure error
	o := &outcomes{now: func() time.Time { return clock }, log: slog.New(slog.DiscardHandler), count: func(context.Context) (map[string]int, error) {
		counts++
		return map[string]int{api.StateKept: counts}, failure
	}}
	registry := prometheus.NewRegistry()
	registry.MustRegister(o)
	for i, c := range []struct {
		after    time.Duration
		err      error
		counts   int // so far
		families int
	}{
		{0, nil, 1, 1}, {59 * time.Second, nil, 1, 1}, {time.Second, nil, 2, 1},
		{time.Minute, errors.New("busy"), 3, 0}, {time.Second, nil, 3, 0}, {time.Minute, nil, 4, 1},
	} {
		clock, failure = clock.Add(c.after), c.err
		for range 100 {
			families, err := registry.Gather()
			if err != nil || len(families) != c.families || counts != c.counts {
				t.Fatalf("step %d: %d families, %d counts, %v", i, len(families), counts, err)
			}
		}
	}
}

// gathered returns the value of a metric, or the sum of a histogram.
func gathered(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	m := families[0].GetMetric()[0]
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
}

// metrics returns the metrics that a daemon exports.
func metrics(t *testing.T, socket string) string {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) }}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://varqd" + api.PathMetrics)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
