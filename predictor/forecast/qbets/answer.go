package qbets

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// asked says which waits answer for a request.
type asked struct {
	service *service // nil if nothing is known of the partition
	class   Class
	key     tenantKey // of tenant
	tenant  *tenant   // that the request is served as, or nil
}

// ask finds what answers for a request.

func (p *Predictor) ask(r *workload.Request) (a asked) {
	a.service = p.services[r.Queue()]
	a.key, a.tenant = p.tenants.served(r)
	a.limit(r)
	return a
}

// limit sets a.class again after the limit of the request has changed.
func (a *asked) limit(r *workload.Request) {
	if a.service != nil {
		a.class = a.service.class(r, a.class)
	}
}

// answer fills e with the past waits that answer for a.
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

// Forecast sets est[i] to the estimate for c[i], a candidate of r, at the time now in Unix
// seconds. The class of a candidate depends on its time limit, so estimates jump where the
// limit passes from one class to another. Prob is the lower confidence bound on the
// probability of a wait within the budget: the largest q whose Bound is within the budget. Of a
// job that has waited since a Submit before now, those count that had waited as long.
// During an outage, estimates have nothing but Down.
func (p *Predictor) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	e := pool{now: now}
	var (
		known  asked              // what e was last filled for
		name   string             // of the class of e
		d      delay.Distribution // of a tenant's waits
		before [2]int             // successes and trials of the previous candidate
	)
	next := p.ask(&r)
	down := p.Down(&r, now)
	for i := range c {
		r.Limit = c[i].Limit
		next.limit(&r)
		same := i > 0 && next == known
		if !same && down == "" {
			known = next
			p.answer(&e, &known)
			name = e.class.String()
			if e.tenant != nil {
				e.distribution(&d)
			}
		}
		if e.waits == 0 {
			est[i] = workload.Estimate{Down: down}
			continue
		}
		est[i] = workload.Estimate{Sample: e.waits, Class: name}
		if e.tenant == nil {
			est[i].Held = e.held(c[i].Budget)
		} else {
			est[i].Held = d.Held(float64(c[i].Budget))
		}
		k, n := e.trials(c[i].Budget)
		if waited := now - c[i].Submit; c[i].Job != 0 && waited > 0 {
			// of those that had waited as long
			before, _ := e.trials(waited)
			k, n = max(0, k-before), max(0, n-before)
		}
		if now := [2]int{k, n}; same && now == before {
			est[i].Prob = est[i-1].Prob
		} else {
			est[i].Prob = stats.LowerProportion(k, n, confidence)
			before = now
		}
	}
}

// Bound is an upper confidence bound on a quantile of the wait.
type Bound struct {
	Seconds    int64   // the bound itself
	Quantile   float64 // the quantile it bounds
	Confidence float64 // the confidence achieved, at least .95
	Sample     int     // the number of past waits
	Index      int     // the number of past waits within the bound
	Class      string  // names the jobs whose waits these are
	OK         bool    // false if the sample is too small for any bound, or during an outage
	Down       string  // why there is no bound during an outage, or empty
}

// Bound bounds the q-quantile of the wait of a job like r at the time now in Unix seconds.
func (p *Predictor) Bound(r workload.Request, now int64, q float64) Bound {
	b := Bound{Quantile: q}
	if b.Down = p.Down(&r, now); b.Down != "" {
		return b
	}
	e := pool{now: now}
	a := p.ask(&r)
	p.answer(&e, &a)
	if e.waits == 0 {
		return b
	}
	b.Sample, b.Class = e.waits, e.class.String()
	b.Seconds, b.Index, b.Confidence, b.OK = e.bound(q, confidence)
	return b
}

// Evidence is what an answer rests on.
type Evidence struct {
	Sample  int    // the number of past waits
	Class   string // names the jobs whose waits these are
	Changed int64  // the last change point of these waits, Unix seconds, or 0
	Down    string // why there is no answer during an outage, or empty
}

// Distribution estimates the distribution of the wait of a job like r at the time now in
// Unix seconds. It is an estimate and not a bound. n past waits and the next wait are taken
// to be exchangeable, so the next is within the k smallest with probability k/(n+1). Jobs
// that wait count as in Bound. Distribution reports false without any past wait, and during
// an outage.
func (p *Predictor) Distribution(r workload.Request, now int64, d *delay.Distribution) (Evidence, bool) {
	if down := p.Down(&r, now); down != "" {
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
