package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Options shape a Predictor. A zero field has the default named with it.
type Options struct {
	// Confidence is the level C of every bound, .95 by default.
	Confidence float64
	// MinHistory is how many waits a class must have to answer alone, without the
	// larger and longer ones, and how many survive a change point. The default is the least
	// that can bound the .95 quantile: 59 at the default confidence.
	MinHistory int
	// MaxHistory is how many waits a class remembers, 1,000 by default. It bounds
	// the harm of a drift too slow to show as a change point; ten times as many
	// would bring the bound on the median nearer by two percentiles. The highest
	// probability it can vouch for is (1-Confidence)^(1/MaxHistory), here .997.
	MaxHistory int
	// Classifier tells the class of a request, Grid{} by default.
	Classifier Classifier
}

// Predictor forecasts waits from the past waits of jobs of the same class or,
// while there are few, also of those that asked for more: it takes a longer or
// larger job to wait at least as long, and never takes the contrary.
// It is told what happens in the order of time. Being told must not run at the
// same time as any other method; the other methods change nothing and may run at
// the same time as one another.
type Predictor struct {
	confidence float64
	least      int
	most       int
	classifier Classifier

	services map[string]*service // by partition
	tenants  tenants
	waiting  map[int64]*waiting // by job
	starts   map[string]*starts // by partition; "": of the cluster
	outages  []Outage
	indices  [len(watched)]*stats.BoundIndices
	newest   int64
	learnt   int
}

// waiting is a job that waits.
type waiting struct {
	request  workload.Request
	eligible int64
	home     *history
}

// New returns a Predictor that has learnt nothing. It panics when an option is
// out of its range.
func New(o Options) *Predictor {
	if o.Confidence == 0 {
		o.Confidence = .95
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		panic("qbets: Confidence outside (0,1)")
	}
	if o.MinHistory == 0 {
		o.MinHistory = stats.SampleSize(.95, o.Confidence)
	}
	if o.MaxHistory == 0 {
		o.MaxHistory = max(1000, o.MinHistory)
	}
	if o.MinHistory < 2 || o.MaxHistory < o.MinHistory {
		panic("qbets: MinHistory below 2 or above MaxHistory")
	}
	if o.Classifier == nil {
		o.Classifier = Grid{}
	}
	p := &Predictor{
		confidence: o.Confidence,
		least:      o.MinHistory,
		most:       o.MaxHistory,
		classifier: o.Classifier,
		services:   make(map[string]*service),
		tenants:    make(tenants),
		waiting:    make(map[int64]*waiting),
		starts:     make(map[string]*starts),
	}
	for i, q := range watched {
		p.indices[i] = stats.NewBoundIndices(q, o.Confidence)
	}
	return p
}

// Submitted takes in a job that waits from j.Eligible on. A job that cannot
// start, being held or waiting for another, does not wait. One that is known
// already is taken anew.
func (p *Predictor) Submitted(j *workload.Job) {
	p.withdraw(j.ID)
	eligible := j.Eligible
	if eligible == 0 {
		eligible = j.Submit
	}
	if eligible <= 0 || eligible > math.MaxUint32 {
		return
	}
	w := &waiting{request: j.Request, eligible: eligible}
	p.waiting[j.ID] = w
	p.house(w)
	for _, s := range p.watch(j.Partition) {
		s.waiting.Insert(uint32(eligible))
	}
}

// Started takes in a job that has started: it is Learn.
func (p *Predictor) Started(j *workload.Job) { p.Learn(*j) }

// Ended takes in a job that has ended, or that was cancelled while it waited.
func (p *Predictor) Ended(j *workload.Job) { p.withdraw(j.ID) }

// withdraw forgets a job that waits no more.
func (p *Predictor) withdraw(id int64) {
	w := p.waiting[id]
	if w == nil {
		return
	}
	delete(p.waiting, id)
	w.home.waiting.Delete(uint32(w.eligible))
	for _, s := range p.watch(w.request.Partition) {
		s.waiting.Delete(uint32(w.eligible))
	}
}

// house lets a job wait in its class.
func (p *Predictor) house(w *waiting) {
	s := p.service(w.request.Partition)
	place := s.place(&w.request)
	w.home = s.history(&place)
	w.home.waiting.Insert(uint32(w.eligible))
}

// service returns what a partition offers.
func (p *Predictor) service(partition string) *service {
	s := p.services[partition]
	if s == nil {
		s = &service{start: p.classifier}
		p.services[partition] = s
	}
	return s
}

// Learn takes in the wait of a job that has started, whether or not it was seen
// waiting. Jobs come in the order of their starts. A job that has not started, or
// whose times contradict one another, teaches nothing; neither does one that
// waited during an outage.
//
// It costs O(log n) amortised for a class of n waits. Where a class is split or
// joined, O(n log n) and a look at each job that waits come at once.
func (p *Predictor) Learn(job workload.Job) {
	seconds, ok := job.Wait()
	if !ok || seconds < 0 || seconds > math.MaxUint32 {
		return
	}
	eligible := job.Start - seconds
	p.listen(&job, eligible)
	p.withdraw(job.ID)
	p.newest = max(p.newest, job.Start)
	if p.silenced(&job.Request, eligible, job.Start) {
		return
	}
	p.learnt++
	s := p.service(job.Partition)
	place := s.place(&job.Request)
	h := s.history(&place)
	p.rank(h, &job.Request, uint32(seconds))
	p.learn(h, observation{
		wait:   uint32(seconds),
		limit:  uint32(min(place.limit, math.MaxUint32)),
		amount: uint32(place.amount),
		order:  uint32(p.learnt),
	}, job.Start)
	if h.reviewed++; h.due(p.least) {
		p.review(s, h)
	}
}

// rank lets those whose job it was learn how it was served, compared with others
// of its class.
func (p *Predictor) rank(h *history, r *workload.Request, wait uint32) {
	if h.len() < p.least {
		return
	}
	rank := h.rank(wait)
	for _, key := range tenantsOf(r) {
		if key.named() {
			t := p.tenants.get(key)
			t.seen = p.learnt
			t.learn(rank, mostRanks*p.least, p.least, len(p.tenants))
		}
	}
}

// review reviews a class of a service, and finds new ones for the jobs that wait
// in a class which is no more.
func (p *Predictor) review(s *service, h *history) {
	for _, gone := range s.review(h, p.least, p.most) {
		if gone.waiting.Len() == 0 {
			continue
		}
		for _, w := range p.waiting {
			if w.home == gone {
				p.house(w)
			}
		}
	}
}

// learn adds a wait to h. After a run of misses that is too long to be chance,
// only the newest waits stay, as few as still yield a bound. Those of them that
// are older than the run stay no longer than they must: each wait that follows
// takes the place of one.
func (p *Predictor) learn(h *history, o observation, start int64) {
	run := h.runs.observe(h, &p.indices, o.wait)
	if h.len() == p.most || h.stale > 0 && h.len() >= p.least {
		h.drop()
	}
	h.push(o)
	if run > 0 {
		h.cut(max(p.least, run))
		h.stale = max(0, h.len()-run)
		h.runs = runs{}
		h.changed = start
	}
}

// asked is whom and which class a request is asked of.
type asked struct {
	service *service // nil if nothing is known of the partition
	class   Class
	key     tenantKey // of tenant
	tenant  *tenant   // whose service differs, or nil
}

func (p *Predictor) ask(r *workload.Request) (a asked) {
	a.service = p.services[r.Partition]
	a.key, a.tenant = p.tenants.served(r)
	a.limit(r)
	return a
}

// limit finds the class for another limit of the request.
func (a *asked) limit(r *workload.Request) {
	if a.service != nil {
		a.class = a.service.class(r, a.class)
	}
}

// answer finds the past waits that answer.
func (p *Predictor) answer(e *pool, a *asked) {
	e.waits, e.tenant = 0, nil
	if a.service == nil {
		return
	}
	e.fill(a.service, a.class, p.least)
	e.few = e.waits < p.least
	if a.tenant != nil {
		e.tenant = a.tenant
		e.class.Account, e.class.User = a.key.account, a.key.user
	}
}

// Forecast estimates every candidate of r into the element of est of the same
// index. A candidate's class follows its own time limit, so estimates jump where
// the limit leaves one class for another. Prob is the lower confidence bound on
// the probability of a wait within the budget, which is the largest q whose Bound
// is within it. Jobs count that wait now, a time in Unix seconds; during an outage
// nothing is known of any candidate.
func (p *Predictor) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	e := pool{now: now}
	var (
		known  asked              // by the candidate before
		name   string             // of the evidence
		d      delay.Distribution // of a tenant's waits
		before [2]int             // successes and trials of the candidate before
	)
	next := p.ask(&r)
	down := p.Down(r.Partition, now) != ""
	for i := range c {
		r.Limit = c[i].Limit
		next.limit(&r)
		same := i > 0 && next == known
		if !same && !down {
			known = next
			p.answer(&e, &known)
			name = e.class.String()
			if e.tenant != nil {
				e.distribution(&d)
			}
		}
		if e.waits == 0 {
			est[i] = workload.Estimate{}
			continue
		}
		est[i] = workload.Estimate{Sample: e.waits, Class: name}
		if e.tenant == nil {
			est[i].Held = e.held(c[i].Budget)
		} else {
			est[i].Held = d.Held(float64(c[i].Budget))
		}
		k, n := e.trials(c[i].Budget)
		if now := [2]int{k, n}; same && now == before {
			est[i].Prob = est[i-1].Prob
		} else {
			est[i].Prob = stats.LowerProportion(k, n, p.confidence)
			before = now
		}
	}
}

// Bound is an upper confidence bound on a quantile of the wait.
type Bound struct {
	Seconds    int64   // the bound itself
	Quantile   float64 // the quantile it bounds
	Confidence float64 // really achieved, at least the one asked for
	Sample     int     // past waits behind it
	Index      int     // which of them, from the smallest, 1, it is at least
	Class      string  // whose waits they are
	OK         bool    // false: the sample is too small for any bound, or Down
	Down       string  // why there is none during an outage, or empty
}

// Bound bounds the q-quantile of the wait of a job like r, as things are now, a
// time in Unix seconds.
func (p *Predictor) Bound(r workload.Request, now int64, q float64) Bound {
	b := Bound{Quantile: q}
	if b.Down = p.Down(r.Partition, now); b.Down != "" {
		return b
	}
	e := pool{now: now}
	a := p.ask(&r)
	p.answer(&e, &a)
	if e.waits == 0 {
		return b
	}
	b.Sample, b.Class = e.waits, e.class.String()
	b.Seconds, b.Index, b.Confidence, b.OK = e.bound(q, p.confidence)
	return b
}

// Evidence is what an answer rests on.
type Evidence struct {
	Sample  int    // past waits
	Class   string // whose waits they are
	Changed int64  // their last change point, Unix seconds, or 0
	Down    string // why there is no answer during an outage, or empty
}

// Distribution estimates the distribution of the wait of a job like r, as things
// are now, a time in Unix seconds: not a bound, but what is to be expected. Of n
// past waits and the next, which are taken to be exchangeable, the next is among
// the k smallest with probability k/(n+1); jobs that wait count as in the bounds.
// It reports false when it knows nothing, or during an outage.
func (p *Predictor) Distribution(r workload.Request, now int64, d *delay.Distribution) (Evidence, bool) {
	if down := p.Down(r.Partition, now); down != "" {
		return Evidence{Down: down}, false
	}
	e := pool{now: now}
	a := p.ask(&r)
	p.answer(&e, &a)
	if e.waits == 0 {
		return Evidence{}, false
	}
	e.distribution(d)
	return Evidence{Sample: e.waits, Class: e.class.String(), Changed: e.changed()}, true
}

// Len returns how many waits were learnt.
func (p *Predictor) Len() int { return p.learnt }

// Newest returns the latest start told, Unix seconds, or 0.
func (p *Predictor) Newest() int64 { return p.newest }

// Changed returns the time of the last change point of the waits that answer
// for r, Unix seconds, or 0 when there was none.
func (p *Predictor) Changed(r workload.Request) int64 {
	var e pool
	a := p.ask(&r)
	p.answer(&e, &a)
	return e.changed()
}
