package daemon

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/slurm"
)

// load measures how long requests keep slurmrestd busy, and bounds it to a share of the time.
//
// Requests make a debt of as many seconds as they take, and time pays share of a second of it
// each second. Who may wait asks only while nothing is owed. So over any time in which that is
// so at both ends, all requests together have taken at most that share of it.
//
// Time in which Slurm does not answer is not load. So a request without an answer owes nothing, and
// one that takes far longer than others of its kind was stuck: it owes stuckTimes as much as they
// did. That a slurmrestd has become slow is thus believed after some requests.
type load struct {
	now   func() time.Time // with a monotonic reading
	share float64

	mu     sync.Mutex
	at     time.Time // as of which the fields below are
	active map[*request]bool
	debt   float64 // seconds
	// the share of the time that requests have taken lately, whether or not they count
	recent float64
	// by kind that is known: how many seconds a request has owed of late, at most
	most map[string]float64
	busy map[string]float64
}

// request is one that is being answered.
type request struct {
	bound float64 // seconds that it owes at most
	owed  float64 // of these, so far
}

const (
	// recently is the time constant of load.recent: what was so long ago weighs 1/e.
	recently = 10 * time.Minute
	// lately is that of load.most, which does not fall below mostLeast, in seconds.
	lately    = time.Hour
	mostLeast = .25
	// stuckTimes is how many times load.most a request owes at most.
	stuckTimes = 2
)

// newLoad returns a load without a debt. Of the kinds of requests that are short on every cluster
// it knows that.
func newLoad(share float64, now func() time.Time) *load {
	return &load{
		now: now, share: share, at: now(), active: map[*request]bool{}, busy: map[string]float64{},
		most: map[string]float64{"clock": mostLeast, "job": mostLeast, "change": mostLeast},
	}
}

// pass brings l up to date. The caller holds the lock.
func (l *load) pass() {
	now := l.now()
	passed := now.Sub(l.at).Seconds()
	l.at = now
	for r := range l.active {
		more := min(passed, r.bound-r.owed)
		r.owed += more
		l.debt += more
	}
	l.debt = max(0, l.debt-l.share*passed)
	active := float64(len(l.active))
	l.recent = active + (l.recent-active)*math.Exp(-passed/recently.Seconds())
	for kind, most := range l.most {
		l.most[kind] = max(mostLeast, most*math.Exp(-passed/lately.Seconds()))
	}
}

// begin notes that a request of some kind is sent. The function that it returns is to be called
// with its error once it is over. A request that does not count makes no debt.
func (l *load) begin(kind string, counts bool) (end func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	began, r := l.at, &request{}
	if most, known := l.most[kind]; counts && known {
		r.bound = stuckTimes * most
	} else if counts {
		r.bound = math.Inf(1)
	}
	l.active[r] = true
	return func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pass()
		delete(l.active, r)
		l.busy[kind] += l.at.Sub(began).Seconds()
		switch {
		case unanswered(err):
			l.debt = max(0, l.debt-r.owed)
		case counts:
			l.most[kind] = max(mostLeast, l.most[kind], r.owed)
		}
	}
}

// unanswered reports whether err, if any, means that there was no answer. A refusal is one.
func unanswered(err error) bool {
	return errors.Is(err, slurm.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// free reports whether nothing is owed.
func (l *load) free() bool { return l.paidWithin(0) }

// paidWithin reports whether what is owed will be paid after d.
func (l *load) paidWithin(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass()
	return l.debt <= l.share*d.Seconds()
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
