package twin

import (
	"cmp"
	"math"
	"slices"
)

// tenant is an occupant that is on a node with a probability above 0.
type tenant struct {
	*occupant
	alike alike
	prob  float64
}

// sortTenants sorts tenants so that those that are alike follow one another, by falling
// probability.
func sortTenants(list []tenant) {
	slices.SortFunc(list, func(a, b tenant) int {
		if a.alike == b.alike {
			return cmp.Compare(b.prob, a.prob)
		}
		return cmp.Or(cmp.Compare(a.alike.user, b.alike.user), cmp.Compare(a.alike.cpus, b.alike.cpus), cmp.Compare(a.alike.limit, b.alike.limit))
	})
}

// fewTenants is up to how many tenants of a node all cases are gone through. What more have
// together is taken to be normal.
const fewTenants = 10

// free returns the probabilities that the i-th node has at least 0, 1, ... places beside its
// tenants, which are sorted. Those of no more places than least, which it has beside them all, are
// left out.
func (p *pieces) free(i int, tenants []tenant, least int64) (probs [mostPlaces + 1]float64) {
	most := p.nodes[i].places
	if !p.Exclusive && len(tenants) > fewTenants {
		for places := least + 1; places <= most; places++ {
			probs[places] = p.freeOfMany(i, tenants, places)
		}
		return probs
	}
	p.cases(i, tenants, used{}, 1, least, &probs)
	for places := most - 1; places > least; places-- {
		probs[places] += probs[places+1]
	}
	return probs
}

// freeOfMany returns the probability that the i-th node has at least so many places beside many
// tenants.
func (p *pieces) freeOfMany(i int, tenants []tenant, places int64) float64 {
	prob := 1.
	for _, of := range resources {
		each := of(&p.Each)
		if each == 0 {
			continue
		}
		mean, variance := 0., 0.
		for k := range tenants {
			t := &tenants[k]
			has := float64(of(&t.each))
			mean += t.prob * has
			variance += t.prob * (1 - t.prob) * has * has
		}
		left := float64(of(&p.of.nodes[i].Size)-places*each) + .5
		prob = min(prob, .5*math.Erfc((mean-left)/math.Sqrt(2*variance)))
	}
	return prob
}

// cases goes through all cases in which some of the tenants are on the i-th node, where so much of
// it is taken besides with a probability: of tenants that are alike, the likelier are there if the
// others are. It adds the probability of each case to that of its number of places, which is at
// least least.
func (p *pieces) cases(i int, tenants []tenant, taken used, prob float64, least int64, probs *[mostPlaces + 1]float64) {
	if places := p.places(i, &taken); places == least || len(tenants) == 0 {
		probs[places] += prob
		return
	}
	group := 1
	for group < len(tenants) && tenants[group].alike == tenants[0].alike {
		group++
	}
	here := 1. // the probability that those counted are there
	for n := range group + 1 {
		next := 0.
		if n < group {
			next = tenants[n].prob
		}
		if here > next {
			p.cases(i, tenants[group:], taken, prob*(here-next), least, probs)
		}
		if n < group {
			taken.add(tenants[n].occupant, 1)
		}
		here = next
	}
}
