package daemon

import (
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// load measures how long requests keep slurmrestd busy, and bounds it to a share of the time.
//
// Requests make a debt of as many seconds as they take, and time pays share of a second of it
// each second. Who may wait asks only while nothing is owed. So over any time in which that is
// so at both ends, all requests together have taken at most that share of it.
type load struct {
	now   func() time.Time // with a monotonic reading
	share float64

	mu      sync.Mutex
	at      time.Time // as of which the fields below are
	active  int       // requests that are being answered
	charged int       // those of them that count
	debt    float64   // seconds
	recent  float64   // the share of the time that requests have taken lately, whether or not they count
	busy    map[string]float64
}

// recently is the time constant of load.recent: what was so long ago weighs 1/e.
const recently = 10 * time.Minute

func newLoad(share float64, now func() time.Time) *load {
	return &load{now: now, share: share, at: now(), busy: map[string]float64{}}
}

// pass brings l up to date. The caller holds the lock.
func (l *load) pass() {
	now := l.now()
	passed := now.Sub(l.at).Seconds()
	l.at = now
	l.debt = max(0, l.debt+(float64(l.charged)-l.share)*passed)
	l.recent = float64(l.active) + (l.recent-float64(l.active))*math.Exp(-passed/recently.Seconds())
}

// begin notes that a request of some kind is sent. The function that it returns is to be
// called once the answer is there. A request that does not count makes no debt.
func (l *load) begin(kind string, counts bool) (end func()) {
	charge := 0
	if counts {
		charge = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	l.active++
	l.charged += charge
	began := l.at
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pass()
		l.active--
		l.charged -= charge
		l.busy[kind] += l.at.Sub(began).Seconds()
	}
}

// free reports whether nothing is owed.
func (l *load) free() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	return l.debt == 0
}

// forgive forgets what is owed.
func (l *load) forgive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	l.debt = 0
}

var (
	busyDesc = prometheus.NewDesc("varq_slurmrestd_busy_seconds_total", "Seconds for which varqd's requests have kept slurmrestd busy, by kind.", []string{"request"}, nil)
	loadDesc = prometheus.NewDesc("varq_slurmrestd_load", "Share of the time for which varqd's requests have kept slurmrestd busy, in the last minutes.", nil, nil)
)

// Describe implements prometheus.Collector.
func (l *load) Describe(ch chan<- *prometheus.Desc) {
	ch <- busyDesc
	ch <- loadDesc
}

// Collect implements prometheus.Collector.
func (l *load) Collect(ch chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	for kind, seconds := range l.busy {
		ch <- prometheus.MustNewConstMetric(busyDesc, prometheus.CounterValue, seconds, kind)
	}
	ch <- prometheus.MustNewConstMetric(loadDesc, prometheus.GaugeValue, l.recent)
}
