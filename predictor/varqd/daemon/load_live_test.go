package daemon

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/test/cluster"
)

// liveLoad: with 1,000 jobs in a real queue, varqd keeps slurmrestd busy for a small share of the
// time, and nevertheless sees what happens to a promised job.
func liveLoad(t *testing.T, c *cluster.Cluster) {
	l := startLive(t, c)
	job := l.submit("alice", l.reserve("alice", 3*time.Hour), "true")
	l.awaitState("alice", job, api.StatePending)
	l.stop()
	l.run("bob", "sh", "-c", "for i in $(seq 1000); do sbatch --quiet --hold --output=/dev/null --time=1 --wrap=true || exit; done")

	l.config.Watch.Load = .1
	l.config.Watch.Refresh = config.Duration(time.Minute)
	slurmrestd, err := url.Parse(l.RestURL())
	if err != nil {
		t.Fatal(err)
	}
	watch := newStopwatch(httputil.NewSingleHostReverseProxy(slurmrestd))
	proxy := httptest.NewServer(watch)
	defer proxy.Close()
	l.config.Slurmrestd.URL = proxy.URL
	l.start()
	first := len(watch.readings()) // the past was loaded after one of these: that does not count
	l.eventually("the queue is read three times more", func() bool { return len(watch.readings()) >= first+3 })
	l.stop()
	readings := watch.readings()[first:]
	for i := range readings[1:] {
		passed, owed := readings[i+1].at.Sub(readings[i].at), readings[i+1].owed-readings[i].owed
		share := owed / passed.Seconds()
		t.Logf("slurmrestd was busy for %.3f s of %v: %.3f", owed, passed, share)
		if share > .1 {
			t.Errorf("slurmrestd was kept busy for %.3f of the time", share)
		}
	}

	// While the queue is hardly ever read, alice's hold is seen in her job alone.
	l.config.Watch.Load = .002
	l.start()
	newest := func() string { return metric(metrics(t, l.config.Server.Socket), "varq_queue_newest_seconds ") }
	seen := newest()
	for _, change := range []struct{ command, note string }{{"hold", "held"}, {"release", "released"}, {"hold", "held"}} {
		l.run("alice", "scontrol", change.command, job)
		l.eventually("the "+change.command+" is noted", func() bool { return l.reservation("alice", job).Note == change.note })
		again := newest()
		if again == seen {
			return
		}
		t.Logf("the queue was read at %s, after %s", again, seen)
		seen = again
	}
	t.Error("whatever alice does to her job is noted only after a reading of the queue")
}

// metric returns the value of the metric whose line begins with name.
func metric(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// stopwatch passes requests on, and measures how long they take: one that is stuck, as requests may
// be on a busy machine, counts as varqd counts it.
type stopwatch struct {
	to    http.Handler
	taken *load // of which nothing is ever paid

	mu     sync.Mutex
	queues []laps // one for each reading of the queue, as it begins
}

// laps is what a stopwatch shows.
type laps struct {
	at   time.Time
	owed float64 // seconds so far
}

func newStopwatch(to http.Handler) *stopwatch { return &stopwatch{to: to, taken: newLoad(0, time.Now)} }

func (s *stopwatch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/slurm/") && strings.HasSuffix(r.URL.Path, "/jobs") {
		s.mu.Lock()
		s.queues = append(s.queues, laps{time.Now(), s.owed()})
		s.mu.Unlock()
	}
	end := s.taken.begin(kindOf(r), true)
	s.to.ServeHTTP(w, r)
	end(nil)
}

// kindOf returns what a request is for: "slurm jobs" of /slurm/v0.0.42/jobs.
func kindOf(r *http.Request) string {
	parts := strings.SplitN(r.URL.Path, "/", 5)
	if len(parts) < 4 {
		return r.URL.Path
	}
	return parts[1] + " " + parts[3]
}

// owed returns how many seconds all requests have taken so far.
func (s *stopwatch) owed() float64 {
	s.taken.mu.Lock()
	defer s.taken.mu.Unlock()
	s.taken.pass()
	return s.taken.debt
}

// readings returns the laps of the readings of the queue so far.
func (s *stopwatch) readings() []laps {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queues)
}
