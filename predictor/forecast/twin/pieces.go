package twin

import (
	"cmp"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// pieces is a demand for places on single nodes of a partition. A node has as many places as pieces
// fit on it beside the jobs that run there, but at most limit. A job that has not started takes
// places on nodes not yet known, as few as it can.
type pieces struct {
	workload.Pieces
	of      *Occupants
	limit   int64
	largest workload.Size // of all nodes
	nodes   []node
	left    int64                 // places that others may have
	least   int64                 // places of an empty node
	spare   int64                 // nodes that start jobs, but have no place
	most    int64                 // pieces that fit on an empty node
	claimed [len(resources)]int64 // places that the counted occupants that wait need, by resource
	blocked blockedNodes          // nodes on which these leave no place
	taken   int64                 // places that the counted occupants take whose nodes are known
}

// node is one that pieces may be on.
type node struct {
	places int64 // if it is empty
	used   used  // by the counted occupants
}

// used is what occupants have of a node.
type used struct {
	CPUs, GPUs  int32
	Memory      int64
	jobs, alone int64 // how many they are, and those of them that share it with none
}

// add adds an occupant a number of times, which may be negative.
func (u *used) add(c *occupant, times int64) {
	u.CPUs += c.each.CPUs * int32(times)
	u.GPUs += c.each.GPUs * int32(times)
	u.Memory += c.each.Memory * times
	u.jobs += times
	if c.alone {
		u.alone += times
	}
}

// mostPlaces is the greatest limit. Where more pieces fit on a node, they are small beside it.
const mostPlaces = 8

// pieces returns the demand for the pieces of a claim, or nil if it tells no more than amounts.
func (o *Occupants) pieces(c *workload.Claim) *pieces {
	if c.Pieces.Count == 0 || len(o.nodes) == 0 {
		return nil
	}
	p := &pieces{Pieces: c.Pieces, of: o, limit: math.MaxInt64, nodes: make([]node, len(o.nodes))}
	if o.part.GPUs == 0 {
		p.Each.GPUs = 0
	}
	if o.part.Memory == 0 {
		p.Each.Memory = 0
	}
	for i := range p.nodes {
		p.most = max(p.most, p.places(i, &used{}))
		size := &o.nodes[i].Size
		p.largest = workload.Size{CPUs: max(p.largest.CPUs, size.CPUs), GPUs: max(p.largest.GPUs, size.GPUs), Memory: max(p.largest.Memory, size.Memory)}
	}
	switch {
	case c.Pieces.Count > 1 && c.Pieces.Count == c.Nodes:
		p.limit = 1 // each is on its own node
	case p.most <= mostPlaces:
		p.limit = mostPlaces
	case c.Pieces.Count == 1:
		p.limit = 1
	default:
		return nil
	}
	p.left, p.least = -int64(c.Pieces.Count), p.limit
	for i := range p.nodes {
		places := p.places(i, &used{})
		p.nodes[i].places = places
		p.left += places
		if o.nodes[i].Nodes > 0 {
			p.least = min(p.least, places)
			if places == 0 {
				p.spare++
			}
		}
	}
	return p
}

// larger returns the claims of larger pieces on fewer nodes that follow from the claim of a job of
// several nodes with a piece on each: where no node has its equal share of all CPUs, or of all
// GPUs, the nodes do not have all of them.
func (p *pieces) larger(c *workload.Claim) (claims []workload.Claim) {
	n := int64(p.Count)
	if p.Exclusive || n <= 1 || p.Count != c.Nodes {
		return nil
	}
	larger := func(all, most, has int64) (piece workload.Claim, share int32) {
		each := (all + n - 1) / n
		if each <= has || each > most {
			return piece, 0
		}
		// The other nodes have each-1 at most, and these all of a node.
		piece = *c
		piece.Nodes = int32((all - n*(each-1) + most - each) / (most - each + 1))
		piece.Pieces = workload.Pieces{Count: piece.Nodes, Each: p.Each}
		return piece, int32(each)
	}
	if piece, share := larger(int64(c.CPUs), int64(p.largest.CPUs), int64(p.Each.CPUs)); share > 0 {
		piece.Pieces.Each.CPUs = share
		claims = append(claims, piece)
	}
	if piece, share := larger(int64(c.GPUs), int64(p.largest.GPUs), int64(p.Each.GPUs)); share > 0 {
		piece.Pieces.Each.GPUs = share
		claims = append(claims, piece)
	}
	return claims
}

// places returns how many places the i-th node has if so much of it is taken.
func (p *pieces) places(i int, taken *used) int64 {
	size, fit := &p.of.nodes[i].Size, p.limit
	switch {
	case size.Nodes == 0 || taken.alone > 0: // it starts no jobs
		return 0
	case p.Exclusive:
		return max(0, 1-taken.jobs)
	}
	if each := p.Each.CPUs; each > 0 {
		fit = min(fit, int64(max(0, size.CPUs-taken.CPUs)/each))
	}
	if each := p.Each.GPUs; each > 0 {
		fit = min(fit, int64(max(0, size.GPUs-taken.GPUs)/each))
	}
	if each := p.Each.Memory; each > 0 {
		fit = min(fit, max(0, size.Memory-taken.Memory)/each)
	}
	return fit
}

// claims returns how many places a job takes at least that has not started, by what each of its
// pieces needs of the resources. Those of several jobs add up for each resource.
func (p *pieces) claims(c *occupant) (places [len(resources)]int64) {
	all := func(n int64) {
		for r := range places {
			places[r] = n
		}
	}
	switch {
	case c.pieces.Exclusive:
		all(p.least)
	case p.most <= 1: // two pieces that need more than half of a node are not on one
		for r, of := range resources {
			if half := of(&p.largest) / 2; of(&c.pieces.Each) > half && (p.Exclusive || of(&p.Each) > half) {
				places[r] = 1
			}
		}
	case p.most <= p.limit:
		fit := int64(mostPlaces)
		for _, of := range resources {
			if each := of(&p.Each); each > 0 {
				fit = min(fit, of(&c.pieces.Each)/each)
			}
		}
		all(fit)
	}
	for r := range places {
		places[r] = int64(c.share * float64(places[r]*int64(c.pieces.Count)))
	}
	return places
}

func (p *pieces) change(c *occupant, begins bool) {
	sign := int64(1)
	if !begins {
		sign = -1
	}
	if c.waits {
		for r, places := range p.claims(c) {
			p.claimed[r] += sign * places
		}
		p.blocked.add(p, c, sign)
	}
	for _, i := range c.on {
		n := &p.nodes[i]
		p.taken += p.places(i, &n.used)
		n.used.add(c, sign)
		p.taken -= p.places(i, &n.used)
	}
}

func (p *pieces) missing() (sure, all int64) {
	claimed, blocked := slices.Max(p.claimed[:]), p.blocked.nodes()-p.spare
	return max(claimed, blocked) - p.left, max(claimed+p.taken, blocked) - p.left
}

func (p *pieces) room(first []occupant, at int64) float64 {
	var claimed [len(resources)]int64
	var blocked blockedNodes
	for i := range first {
		if c := &first[i]; c.waits && c.has(at) {
			for r, places := range p.claims(c) {
				claimed[r] += places
			}
			blocked.add(p, c, 1)
		}
	}
	left := p.left - slices.Max(claimed[:])
	beside, most := make([]int64, len(p.nodes)), int64(0) // places beside all that may be there
	for i := range p.nodes {
		var all used
		for _, k := range p.of.onNode[i] {
			if c := &first[k]; c.has(at) {
				all.add(c, 1)
			}
		}
		beside[i] = p.places(i, &all)
		most += p.nodes[i].places - beside[i]
	}
	switch {
	case left < 0 || blocked.nodes()-p.spare > p.left:
		return 0
	case most <= left:
		return 1
	}
	var taken groups
	probs := make([]float64, len(first))
	var there []tenant
	for i := range p.nodes {
		n := &p.nodes[i]
		if beside[i] == n.places {
			continue
		}
		there = there[:0]
		for _, k := range p.of.onNode[i] {
			if c := &first[k]; c.has(at) {
				if probs[k] == 0 {
					probs[k] = c.stillThere(at)
				}
				there = append(there, tenant{c, c.alike(), probs[k]})
			}
		}
		sortTenants(there)
		longest := slices.MaxFunc(there, func(a, b tenant) int { return cmp.Compare(a.prob, b.prob) })
		free := p.free(i, there, beside[i])
		for places := beside[i] + 1; places <= n.places; places++ {
			taken.add(longest.occupant, 1, 1-free[places])
		}
	}
	return taken.atMost(left)
}
