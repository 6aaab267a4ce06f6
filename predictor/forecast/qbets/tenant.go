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
// Each wait is ranked among the past waits of its class. Ranks make the waits of all
// classes comparable, so the ranks of a tenant are a history of how it is served. The
// tenant's next wait is at most the k-th smallest of n waits as often as its ranks were at
// most k/(n+1). So a tenant needs no history of waits for each class of jobs.
//
// The mean of a tenant's scores, which are ranks between -1 and 1, decides whether its
// service differs. If it is served like everyone else, scores have the mean 0. Their
// variance is then at most 1/3, since ties take the middle of their ranks. A mean of its own
// raises the log-likelihood of n such scores by 3/2 n mean^2 or more. This must exceed the
// charge of the Bayesian information criterion for one parameter, plus the logarithm of the
// number of tenants.
//
// Scores depend on one another. While the service does not differ, n is therefore reduced
// to an effective sample size. Once it differs, n is the number of scores. So a tenant near
// the limit does not change sides again and again.
type tenant struct {
	ranks   recent[rank]
	sorted  stats.Multiset // of rank.share
	series  stats.Lag1     // of rank.score
	differs bool
	seen    int // Predictor.learnt at its last wait
}

// rank is where a wait lies among the past waits of its class.
type rank struct {
	share uint32  // share(k, n+1) for the least k with the wait at most the k-th smallest of n
	score float64 // between -1 and 1; 0 in the middle
}

// tenantKey is an account, or a user, of a partition.
type tenantKey struct{ partition, account, user string }

// mostTenants is the most accounts and users remembered. When there are more, the one whose
// last wait is oldest is forgotten.
const mostTenants = 1024

// mostRanks is the most ranks of a tenant remembered, in multiples of Predictor.least.
const mostRanks = 4

// share encodes the fraction k/n, at most 1, as an integer. Equal fractions are equal.
func share(k, n int) uint32 { return uint32(uint64(k) * math.MaxUint32 / uint64(n)) }

// rank returns the rank of a wait among those of h.
func (h *history) rank(wait uint32) rank {
	below := 0
	if wait > 0 {
		below, _ = h.sorted.Through(wait - 1)
	}
	through, _ := h.sorted.Through(wait)
	return rank{
		share: share(below+1, h.len()+1),
		score: float64(below+through)/float64(h.len()) - 1,
	}
}

// learn adds the rank of a wait. The tenant remembers the newest most ranks. Its service can
// differ once it has enough. tenants is the number of tenants.
func (t *tenant) learn(r rank, most, enough, tenants int) {
	if t.ranks.n == most {
		t.sorted.Delete(t.ranks.drop().share)
		t.series.Drop(t.ranks.at(0).score)
	}
	t.ranks.push(r)
	t.sorted.Insert(r.share)
	t.series.Push(r.score)

	n := float64(t.ranks.n)
	if !t.differs {
		n = independent(t.ranks.n, t.series.Autocorrelation())
	}
	mean := t.series.Mean()
	charge := math.Log(max(n, 1))/2 + math.Log(float64(tenants))
	t.differs = t.ranks.n >= enough && 1.5*n*mean*mean > charge
}

// independent returns the effective sample size of n observations with a lag-1
// autocorrelation of rho: n(1-rho)/(1+rho), the limit for the mean of an AR(1) series. Jobs
// that are submitted together wait together: a hundred are hardly more evidence than one.
func independent(n int, rho float64) float64 {
	rho = min(max(rho, 0), .99)
	return float64(n) * (1 - rho) / (1 + rho)
}

// within returns the number of the tenant's ranks that are at most k/n.
func (t *tenant) within(k, n int) int {
	count, _ := t.sorted.Through(share(k, n))
	return count
}

// tenantsOf returns the keys of the user and of the account that r comes from. The key of an
// unknown one is not named.
func tenantsOf(r *workload.Request) [2]tenantKey {
	return [...]tenantKey{{r.Queue(), "", r.User}, {r.Queue(), r.Account, ""}}
}

// named reports whether the key has an account or a user.
func (k *tenantKey) named() bool { return k.account != "" || k.user != "" }

// compare orders keys.
func (k *tenantKey) compare(o *tenantKey) int {
	return cmp.Or(
		cmp.Compare(k.partition, o.partition),
		cmp.Compare(k.account, o.account),
		cmp.Compare(k.user, o.user),
	)
}

// tenants are the accounts and users remembered.
type tenants map[tenantKey]*tenant

// served returns the tenant that r is served as: its user if the user's service differs,
// else its account if the account's service differs, else nil.
func (ts tenants) served(r *workload.Request) (tenantKey, *tenant) {
	for _, key := range tenantsOf(r) {
		if !key.named() {
			continue
		}
		if t := ts[key]; t != nil && t.differs {
			return key, t
		}
	}
	return tenantKey{}, nil
}

// get returns the tenant with a key. It makes one if there is none.
func (ts tenants) get(key tenantKey) *tenant {
	t := ts[key]
	if t == nil {
		if len(ts) >= mostTenants {
			ts.forget()
		}
		t = &tenant{}
		ts[key] = t
	}
	return t
}

// forget removes the tenant whose last wait is oldest.
func (ts tenants) forget() {
	var oldest tenantKey
	seen := math.MaxInt
	for key, t := range ts {
		if t.seen < seen || t.seen == seen && key.compare(&oldest) < 0 {
			oldest, seen = key, t.seen
		}
	}
	delete(ts, oldest)
}
