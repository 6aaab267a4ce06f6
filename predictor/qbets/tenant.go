package qbets

import (
	"cmp"
	"math"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// tenant is an account or a user of a partition, whose jobs may be served better
// or worse than others like them.
//
// Each wait is scored by its rank among the past waits of its class, between -1
// and 1. If the tenant is served like everyone else, scores have mean 0 and, since
// ties take the middle of their ranks, a variance of at most 1/3. To give the
// tenant a mean of its own raises the logarithm of the likelihood of n such scores
// by 3/2 n mean^2 or more. That must exceed what Bayes's criterion charges for one
// number, and the logarithm of how many tenants there are to choose among, for the
// tenant to be given a service of its own. As in the clustering, a change of
// opinion must be paid for in doubt: dependent scores count as fewer until there
// is a service, and in full once there is.
type tenant struct {
	scores recent[float64]
	series stats.Lag1 // of the scores
	past   recent[workload.Job]
	own    *service // nil while its jobs are served like everyone's
	seen   int      // how much had been learnt when it last was
}

// tenantKey is an account, or a user, of a partition.
type tenantKey struct{ partition, account, user string }

// mostTenants is how many accounts and users are known at a time. The one that
// has been silent for longest is forgotten for a new one.
const mostTenants = 512

// score takes in the rank of a wait.
func (t *tenant) score(x float64, most int) {
	if t.scores.n == most {
		t.scores.drop()
		t.series.Drop(*t.scores.at(0))
	}
	t.scores.push(x)
	t.series.Push(x)
}

// differs reports whether the tenant's service is not everyone's, as one of so
// many tenants. It takes some evidence to say so.
func (t *tenant) differs(enough, tenants int) bool {
	n := float64(t.scores.n)
	if t.own == nil {
		n = independent(t.scores.n, t.series.Autocorrelation())
	}
	mean := t.series.Mean()
	return t.scores.n >= enough && 1.5*n*mean*mean > math.Log(max(n, math.E))/2+math.Log(float64(tenants))
}

// worse reports whether the tenant's jobs wait longer than others.
func (t *tenant) worse() bool { return t.series.Mean() > 0 }

// rank returns where a wait lies among those of h, between -1 and 1.
func (h *history) rank(wait uint32) float64 {
	below := 0
	if wait > 0 {
		below, _ = h.sorted.Through(wait - 1)
	}
	through, _ := h.sorted.Through(wait)
	return float64(below+through)/float64(h.len()) - 1
}

// tenants returns the keys of those whose jobs r is one of, the user first.
func tenantsOf(r *workload.Request) [2]tenantKey {
	return [...]tenantKey{{r.Partition, "", r.User}, {r.Partition, r.Account, ""}}
}

// named reports whether the key is somebody's.
func (k *tenantKey) named() bool { return k.account != "" || k.user != "" }

// own returns the nearest tenant of r that has a service of its own, or nil.
func (p *Predictor) own(r *workload.Request) *tenant {
	for _, key := range tenantsOf(r) {
		if !key.named() {
			continue
		}
		if t := p.tenants[key]; t != nil && t.own != nil {
			return t
		}
	}
	return nil
}

// tenant returns what is known of a tenant, which may be nothing yet.
func (p *Predictor) tenant(key tenantKey) *tenant {
	t := p.tenants[key]
	if t == nil {
		if len(p.tenants) >= mostTenants {
			p.forgetTenant()
		}
		t = &tenant{}
		p.tenants[key] = t
	}
	t.seen = p.learnt
	return t
}

// forgetTenant forgets the one that has been silent for longest.
func (p *Predictor) forgetTenant() {
	var oldest tenantKey
	seen := math.MaxInt
	for key, t := range p.tenants {
		if t.seen < seen || t.seen == seen && key.compare(oldest) < 0 {
			oldest, seen = key, t.seen
		}
	}
	served := p.tenants[oldest].own != nil
	delete(p.tenants, oldest)
	if served {
		p.rehome(oldest.holds)
	}
}

// compare orders keys.
func (k tenantKey) compare(o tenantKey) int {
	return cmp.Or(
		cmp.Compare(k.partition, o.partition),
		cmp.Compare(k.account, o.account),
		cmp.Compare(k.user, o.user),
	)
}

// holds reports whether r is one of the tenant's.
func (k tenantKey) holds(r *workload.Request) bool {
	return r.Partition == k.partition && (k.user == "" || r.User == k.user) && (k.account == "" || r.Account == k.account)
}

// compare learns how a job of each of its tenants was served compared with the
// others of its class, whose past is h.
func (p *Predictor) compareTenants(j *workload.Job, h *history, wait uint32) {
	for _, key := range tenantsOf(&j.Request) {
		if !key.named() {
			continue
		}
		t := p.tenant(key)
		if h != nil && h.len() >= p.least {
			t.score(h.rank(wait), 4*p.least)
		}
		if t.past.n == 2*p.least {
			t.past.drop()
		}
		t.past.push(*j)
		switch differs := t.differs(p.least, len(p.tenants)); {
		case differs && t.own == nil:
			t.own = &service{owner: Class{Partition: key.partition, Account: key.account, User: key.user}, start: p.classifier}
			for i := range t.past.n {
				p.teach(t.own, t.past.at(i))
			}
			p.rehome(key.holds)
		case !differs && t.own != nil:
			t.own = nil
			p.rehome(key.holds)
		case t.own != nil:
			p.teach(t.own, j)
		}
	}
}
