package outlook

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Model is the queue as it is known, and the forecasters that have observed everything
// that led to it. First it learns the past, then it serves, and all the while one
// goroutine at a time may call its methods. Any number may ask the Outlook meanwhile.
type Model struct {
	outlook *Outlook

	// mu guards everything below. It is held for one event at a time, so that answers,
	// which share it, never wait for many.
	mu        sync.RWMutex
	queue     queue.Queue
	predictor *predictor.Predictor
	own       []*own
	starts    int   // observed
	newest    int64 // of them
}

// NewModel returns a Model with an empty queue and forecasters that know nothing.
// The machines may be nil: they are learnt then.
func (o *Outlook) NewModel(machines twin.Pools) *Model {
	m := &Model{outlook: o}
	members := make([]forecast.Forecaster, len(o.Own))
	for i, f := range o.Own {
		m.own = append(m.own, &own{Forecaster: f})
		members[i] = m.own[i]
	}
	// The seed is fixed: the same past gives the same answers.
	options := predictor.Options{Pools: machines, Background: func(task func()) { go task() }}
	m.predictor = predictor.Standard(&m.queue, options, rand.New(rand.NewPCG(1, 1)), members...)
	m.predictor.SetConfidence(o.Confidence)
	return m
}

// Learn has m observe past jobs, given in any order, before it serves. Progress is
// called with the share of them that is done, in percent. It ends early when ctx does.
func (m *Model) Learn(ctx context.Context, jobs []workload.Job, progress func(percent int64)) error {
	defer m.predictor.Hurry(0)
	n := 0
	return forecast.Replay(jobs, &m.queue, []forecast.Observer{observer{m}}, func(*workload.Job) error {
		n++
		m.predictor.Hurry(len(jobs) - n)
		progress(int64(100 * n / len(jobs)))
		return ctx.Err()
	})
}

// Observe has the queue, and then the forecasters, observe an event.
func (m *Model) Observe(e *forecast.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.Tell(&m.queue, observer{m})
}

// Outage has the forecasters observe that an outage has begun or is over.
func (m *Model) Outage(o qbets.Outage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.predictor.Outage(o)
}

// Queue is the queue as it is known. Only Learn and Observe change it, so whoever calls
// them may read it without a lock.
func (m *Model) Queue() *queue.Queue { return &m.queue }

// Serve has the Outlook answer by m from now on. M takes over from the Model before what
// the past does not show, which is the odds of promises.
func (m *Model) Serve() {
	o := m.outlook
	for _, f := range m.own {
		f.joined = true
	}
	if old := o.model.Load(); old == nil {
		m.predictor.SetOdds(o.OldOdds)
	} else {
		old.mu.Lock()
		m.predictor.Inherit(old.predictor)
		old.mu.Unlock()
		for _, f := range o.Own {
			if f, ok := f.(interface{ Relearn() }); ok {
				f.Relearn()
			}
		}
	}
	o.model.Store(m)
}

// observer passes on to the forecasters what a Model observes, and counts starts. It
// implements forecast.Observer.
type observer struct{ *Model }

func (m observer) Submitted(j *workload.Job) { m.predictor.Submitted(j) }

func (m observer) Started(j *workload.Job) {
	m.starts++
	m.newest = max(m.newest, j.Start)
	m.predictor.Started(j)
}

func (m observer) Ended(j *workload.Job) { m.predictor.Ended(j) }

// own is a site's own forecaster. It observes and answers nothing until it has joined,
// since it learns the past by itself.
type own struct {
	forecast.Forecaster
	joined bool
}

// Forecast implements forecast.Forecaster.
func (o *own) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	if !o.joined {
		*a = forecast.Answer{}
		return false
	}
	return o.Forecaster.Forecast(q, a)
}

// Submitted implements forecast.Observer.
func (o *own) Submitted(j *workload.Job) {
	if o.joined {
		o.Forecaster.Submitted(j)
	}
}

// Started implements forecast.Observer.
func (o *own) Started(j *workload.Job) {
	if o.joined {
		o.Forecaster.Started(j)
	}
}

// Ended implements forecast.Observer.
func (o *own) Ended(j *workload.Job) {
	if o.joined {
		o.Forecaster.Ended(j)
	}
}
