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
	watch := &stopwatch{to: httputil.NewSingleHostReverseProxy(slurmrestd)}
	proxy := httptest.NewServer(watch)
	defer proxy.Close()
	l.config.Slurmrestd.URL = proxy.URL
	l.start()
	first := len(watch.readings()) // the past was loaded after one of these: that does not count
	l.eventually("the queue is read three times more", func() bool { return len(watch.readings()) >= first+3 })
	l.stop()
	readings := watch.readings()[first:]
	last := len(readings) - 1
	passed, busy := readings[last].at.Sub(readings[0].at), readings[last].busy-readings[0].busy
	share := busy.Seconds() / passed.Seconds()
	t.Logf("slurmrestd was busy for %v of %v: %.3f", busy, passed, share)
	// A request that takes far longer than others of its kind, as on a machine that is busy for a
	// moment, counts as stuck and owes less. Without a bound the share is above one half.
	if share > .3 {
		t.Errorf("slurmrestd was kept busy for %.3f of the time, and may be for .1", share)
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

// stopwatch passes requests on, and measures how long they take.
type stopwatch struct {
	to http.Handler

	mu     sync.Mutex
	busy   time.Duration
	queues []laps // one for each reading of the queue, as it begins
}

// laps is what a stopwatch shows.
type laps struct {
	at   time.Time
	busy time.Duration // so far
}

func (s *stopwatch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	s.mu.Lock()
	if strings.HasPrefix(r.URL.Path, "/slurm/") && strings.HasSuffix(r.URL.Path, "/jobs") {
		s.queues = append(s.queues, laps{began, s.busy})
	}
	s.mu.Unlock()
	s.to.ServeHTTP(w, r)
	s.mu.Lock()
	s.busy += time.Since(began)
	s.mu.Unlock()
}

// readings returns the laps of the readings of the queue so far.
func (s *stopwatch) readings() []laps {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queues)
}
