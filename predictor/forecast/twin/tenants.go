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
	switch {
	case p.Exclusive:
		probs[1] = empty(tenants)
		return probs
	case len(tenants) > fewTenants:
		for places := least + 1; places <= most; places++ {
			probs[places] = p.freeOfMany(i, tenants, places)
		}
		return probs
	}
	all := cases{pieces: p, node: i, least: least}
	all.add(tenants, used{}, 1)
	for places := most - 1; places > least; places-- {
		all.probs[places] += all.probs[places+1]
	}
	return all.probs
}

// empty returns the probability that none of the tenants is there, which are sorted.
func empty(tenants []tenant) float64 {
	prob := 1.
	for k := range tenants {
		if k == 0 || tenants[k].alike != tenants[k-1].alike { // the likeliest of those that are alike
			prob *= 1 - tenants[k].prob
		}
	}
	return prob
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

// cases are all cases of which tenants are on a node, and the probabilities of its numbers of
// places in them. With all tenants there, it has the least.
type cases struct {
	*pieces
	node  int
	least int64
	probs [mostPlaces + 1]float64
}

// add goes through all cases in which some of the tenants are on the node, where so much of it is
// taken besides with a probability: of tenants that are alike, the likelier are there if the others
// are. It adds the probability of each case to that of its number of places.
func (c *cases) add(tenants []tenant, taken used, prob float64) {
	if places := c.places(c.node, &taken); places == c.least || len(tenants) == 0 {
		c.probs[places] += prob
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
			c.add(tenants[group:], taken, prob*(here-next))
		}
		if n < group {
			taken.add(tenants[n].occupant, 1)
		}
		here = next
	}
}
