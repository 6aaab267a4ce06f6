package outlook

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/success"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Model is the queue as far as it is known, and the forecasters that have observed all that
// led to it. It first learns the past, and then serves. One goroutine at a time may call its
// methods. Any number of goroutines may ask the Outlook at the same time.
type Model struct {
	outlook *Outlook

	// mu guards the fields below once m serves; before that only the caller of Learn uses
	// m. Observe holds mu for one event at a time, so that no answer waits for many events.
	mu        sync.RWMutex
	queue     queue.Queue
	predictor *predictor.Predictor
	ends      *completion.Forecaster // on the predictor
	downey    *expert.Downey
	success   success.Learner
	sites     []*siteForecaster
	left      int          // how many jobs Learn has still to learn from
	past      map[kind]int // how many of the starts were of each kind
	sets      sets

	// jobs are those of the queue since the last event, or nil if nobody has asked for them.
	jobs atomic.Pointer[[]workload.Job]
	// starts is how many were observed, and newest the time of the latest. They are read without
	// mu, so that varqd can tell how it is whatever holds that.
	starts, newest atomic.Int64
}

// NewModel returns a Model with an empty queue and forecasters that know nothing. If pools
// is nil, the Model learns which partitions share processors.
func (o *Outlook) NewModel(pools twin.Pools) *Model {
	m := &Model{outlook: o, past: map[kind]int{}, sets: sets{}}
	members := make([]forecast.Forecaster, len(o.SiteForecasters))
	for i, f := range o.SiteForecasters {
		m.sites = append(m.sites, &siteForecaster{Forecaster: f})
		members[i] = m.sites[i]
	}
	// The seed is fixed: the same past gives the same answers.
	options := predictor.Options{Pools: pools, Background: func(task func()) { go task() }}
	m.predictor = predictor.Standard(&m.queue, options, rand.New(rand.NewPCG(1, 1)), members...)
	m.predictor.SetConfidence(o.Confidence)
	m.ends = completion.New(m.predictor, m.predictor, rand.New(rand.NewPCG(2, 2)))
	m.ends.SetConfidence(o.Confidence)
	m.downey = expert.NewDowney(&m.queue)
	return m
}

// Learn replays past jobs, given in any order, to m before m serves. It calls progress with
// the percentage that is done, once for each job that started. The last call may be below
// 100, because jobs that never started count as jobs too. If ctx is done, Learn returns
// early, with its error.
func (m *Model) Learn(ctx context.Context, jobs []workload.Job, progress func(percent int64)) error {
	n := 0
	return m.Replay(jobs, len(jobs), func(*workload.Job) error {
		n++
		progress(int64(100 * n / len(jobs)))
		return ctx.Err()
	})
}

// Replay replays past jobs, given in any order, to m. Before each job that started is submitted, it
// calls ask, as forecast.Replay does. Of so many of them that come first m learns in a hurry: the
// more of them are left, the less it looks at each. Unless m has served since before, ask may not
// ask the Outlook.
func (m *Model) Replay(jobs []workload.Job, hurried int, ask func(*workload.Job) error) error {
	defer func() {
		m.left = 0
		m.predictor.Hurry(0)
	}()
	n := 0
	m.left = hurried
	for i := range jobs {
		m.sets.count(&jobs[i])
	}
	for i := range jobs {
		m.sets.setLine(&jobs[i].Request)
	}
	return forecast.Replay(jobs, &m.queue, []forecast.Observer{observer{m}}, func(j *workload.Job) error {
		n++
		m.left = max(0, hurried-n)
		m.predictor.Hurry(m.left)
		return ask(j)
	})
}

// Observe tells an event to the queue, and then to the forecasters.
func (m *Model) Observe(e *forecast.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := *e.Job
	if e.Kind == forecast.Started {
		m.sets.count(&j)
	}
	m.sets.setLine(&j.Request)
	told := *e
	told.Job = &j
	told.Tell(&m.queue, observer{m})
	m.jobs.Store(nil)
}

// Hear tells the forecasters news of the cluster. Pools count only if NewModel was told of any.
func (m *Model) Hear(n expert.News) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.predictor.Hear(n)
}

// Queue returns the queue as far as it is known. Only Learn and Observe change it, so their
// caller may read it without a lock.
func (m *Model) Queue() *queue.Queue { return &m.queue }

// list returns the jobs that wait and those that run. They are not to be changed.
func (m *Model) list() []workload.Job {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if known := m.jobs.Load(); known != nil {
		return *known
	}
	waiting, running := m.queue.Len()
	jobs := make([]workload.Job, 0, waiting+running)
	for _, some := range []iter.Seq[*queue.Job]{m.queue.Pending(), m.queue.Running()} {
		for j := range some {
			jobs = append(jobs, j.Job)
		}
	}
	m.jobs.Store(&jobs)
	return jobs
}

// Serve makes m the Model that the Outlook asks. It takes over the open promises and the
// odds of the Model that served before. The first Model begins with Options.OldOdds.
func (m *Model) Serve() {
	o := m.outlook
	for _, f := range m.sites {
		f.joined = true
	}
	if old := o.model.Load(); old == nil {
		m.predictor.SetOdds(o.OldOdds)
	} else {
		old.mu.Lock()
		m.predictor.Inherit(old.predictor)
		old.mu.Unlock()
		for _, f := range o.SiteForecasters {
			if f, ok := f.(forecast.Relearner); ok {
				f.Relearn()
			}
		}
	}
	o.model.Store(m)
}

// observer is the forecast.Observer of a Model. It passes events to the forecasters, and
// counts starts.
type observer struct{ *Model }

// mostEnds is from how many past jobs it is learnt when jobs end: from the newest. That takes
// several times as long as to learn how long they wait, and is forgotten after some thousands.
// Downey's predictors learn from as many.
const mostEnds = 10_000

// crowd is how many jobs in the queue Downey's predictors look through for each job that comes. Of
// more, they look through all for one of several jobs, so that this costs the same for each.
const crowd = 1000

func (m observer) Submitted(j *workload.Job) {
	if j.Count() == 1 && m.left <= mostEnds { // the tasks of an array are not known one by one
		m.ends.Expect(j, forecast.AtSubmission(j))
	}
	m.predictor.Submitted(j)
	if waiting, running := m.queue.Len(); m.left <= mostEnds && j.ID%int64(1+(waiting+running)/crowd) == 0 {
		m.downey.Submitted(j)
	}
}

func (m observer) Started(j *workload.Job) {
	m.starts.Add(1)
	m.newest.Store(max(m.newest.Load(), j.Start))
	m.past[kindOf(&j.Request)]++
	m.ends.Started(j)
	if m.left <= mostEnds {
		m.downey.Started(j)
	}
}

func (m observer) Ended(j *workload.Job) {
	m.ends.Ended(j)
	m.success.Learn(j)
	if m.left <= mostEnds {
		m.downey.Ended(j)
	}
}

func (m observer) Changed(j *workload.Job) { m.ends.Changed(j) }

// siteForecaster is a site's own forecaster. It observes and answers nothing until joined,
// because it learns the past by itself.
type siteForecaster struct {
	forecast.Forecaster
	joined bool
}

// Forecast implements forecast.Forecaster.
func (s *siteForecaster) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	if !s.joined {
		*a = forecast.Answer{}
		return false
	}
	return s.Forecaster.Forecast(q, a)
}

// Submitted implements forecast.Observer.
func (s *siteForecaster) Submitted(j *workload.Job) {
	if s.joined {
		s.Forecaster.Submitted(j)
	}
}

// Started implements forecast.Observer.
func (s *siteForecaster) Started(j *workload.Job) {
	if s.joined {
		s.Forecaster.Started(j)
	}
}

// Ended implements forecast.Observer.
func (s *siteForecaster) Ended(j *workload.Job) {
	if s.joined {
		s.Forecaster.Ended(j)
	}
}
