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
// Each wait is ranked among the past waits of its class. That makes waits of all
// classes comparable, so that the ranks of a tenant are a history of its own
// service: of n past waits of a class and the next, a tenant's next is within the
// k smallest as often as its ranks were k/(n+1) or less. The tenant is a class of
// its own in that respect, but needs no history of its own for each kind of job.
//
// Whether its service differs is decided by the mean of its scores, the ranks
// between -1 and 1. If it is served like everyone else, scores have mean 0 and,
// since ties take the middle of their ranks, a variance of at most 1/3. A mean of
// its own raises the logarithm of the likelihood of n such scores by 3/2 n mean^2
// or more. That must exceed what Bayes's criterion charges for one number, and the
// logarithm of how many tenants there are to choose among. Scores that depend on one
// another count as fewer before the service is held to differ, and in full from
// then on: in doubt, the opinion stays what it was.
type tenant struct {
	ranks   recent[rank]
	sorted  stats.Multiset // of the ranks, as shares
	series  stats.Lag1     // of the scores
	differs bool
	seen    int // how much had been learnt when it last was
}

// rank is where a wait lies among those of a class before it.
type rank struct {
	share uint32  // share(k, n+1) if the wait is at most the k-th smallest of n
	score float64 // between -1 and 1, 0 in the middle
}

// tenantKey is an account, or a user, of a partition.
type tenantKey struct{ partition, account, user string }

// mostTenants is how many accounts and users are known at a time. The one that
// has been silent for longest is forgotten for a new one.
const mostTenants = 1024

// mostRanks is how many ranks of a tenant are remembered, in multiples of the least
// that can tell anything.
const mostRanks = 4

// share writes k/n, which is at most 1, so that equal fractions are equal.
func share(k, n int) uint32 { return uint32(uint64(k) * math.MaxUint32 / uint64(n)) }

// rank returns where a wait lies among those of h.
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

// learn takes in the rank of a wait of one of so many tenants, of which the newest
// are remembered.
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

// independent returns how many independent observations tell as much of a mean as
// n of lag-1 autocorrelation rho: n(1-rho)/(1+rho), the limit for an AR(1)
// series. Jobs that are submitted together wait together, and a hundred of them
// are hardly more evidence than one.
func independent(n int, rho float64) float64 {
	rho = min(max(rho, 0), .99)
	return float64(n) * (1 - rho) / (1 + rho)
}

// within returns how many of the tenant's ranks are k/n or less.
func (t *tenant) within(k, n int) int {
	count, _ := t.sorted.Through(share(k, n))
	return count
}

// tenantsOf returns whose jobs r is one of, the user first, which has no name if
// it is not known.
func tenantsOf(r *workload.Request) [2]tenantKey {
	return [...]tenantKey{{r.Partition, "", r.User}, {r.Partition, r.Account, ""}}
}

// named reports whether the key is somebody's.
func (k *tenantKey) named() bool { return k.account != "" || k.user != "" }

// compare orders keys.
func (k *tenantKey) compare(o *tenantKey) int {
	return cmp.Or(
		cmp.Compare(k.partition, o.partition),
		cmp.Compare(k.account, o.account),
		cmp.Compare(k.user, o.user),
	)
}

// tenants are the accounts and users that are known.
type tenants map[tenantKey]*tenant

// served returns the nearest tenant of r whose service differs, or nil.
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

// get returns what is known of a tenant, which may be nothing yet.
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

// forget forgets the one that has been silent for longest.
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
