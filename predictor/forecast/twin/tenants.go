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
		return cmp.Or(cmp.Compare(a.alike.user, b.alike.user), cmp.Compare(a.alike.cpus, b.alike.cpus), cmp.Compare(a.alike.limit, b.alike.limit), cmp.Compare(b.prob, a.prob))
	})
}

// fewTenants is up to how many tenants of a node all cases are gone through. What more have
// together is taken to be normal.
const fewTenants = 10

// free returns the probability that the i-th node has at least so many places beside its tenants,
// which are sorted.
func (p *pieces) free(i int, tenants []tenant, places int64) float64 {
	if p.Exclusive || len(tenants) <= fewTenants {
		return p.freeBeside(i, tenants, places, used{})
	}
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

// freeBeside is free if so much of the node is taken besides. It goes through all cases: of tenants
// that are alike, the likelier are there if the others are.
func (p *pieces) freeBeside(i int, tenants []tenant, places int64, taken used) float64 {
	switch {
	case p.places(i, &taken) < places:
		return 0
	case len(tenants) == 0:
		return 1
	}
	group := 1
	for group < len(tenants) && tenants[group].alike == tenants[0].alike {
		group++
	}
	prob, here := 0., 1. // here is the probability that those counted are there
	for n := range group + 1 {
		next := 0.
		if n < group {
			next = tenants[n].prob
		}
		if here > next {
			prob += (here - next) * p.freeBeside(i, tenants[group:], places, taken)
		}
		if n < group {
			taken.add(tenants[n].occupant, 1)
		}
		here = next
	}
	return prob
}
