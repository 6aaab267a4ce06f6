package sched

import "math"

// fan is the most entries of a node. Of 16 to 64, it was the fastest at 200 to 500 steps.
const fan = 32

// node is a node of the tree. Only the root may be empty. An entry of a leaf is a change. An
// entry of any other node is a child.
type node struct {
	n     int
	leaf  bool
	at    [fan]int64 // time of the change, or of the child's first change
	sum   [fan]int32 // the change, or the sum of the child's changes
	low   [fan]int32 // the least sum of the child's first k changes, over all k >= 1
	high  [fan]int32 // the greatest such sum
	child [fan]int32
}

// change adds n to the number of free processors from t on.
func (p *Profile) change(t int64, n int32) {
	if old := p.root; p.nodes[old].n == fan {
		p.root = p.node(false)
		root := &p.nodes[p.root]
		root.n, root.child[0] = 1, old
		p.split(p.root, 0)
	}
	p.changeIn(p.root, t, n)
	root := &p.nodes[p.root]
	switch {
	case root.n == 0:
		root.leaf = true
	case root.n == 1 && !root.leaf:
		p.spare = append(p.spare, p.root)
		p.root = root.child[0]
	}
}

// changeIn does the change below node k, which is not full.
func (p *Profile) changeIn(k int32, t int64, n int32) {
	nd := &p.nodes[k]
	i := nd.find(t)
	if nd.leaf {
		p.n += nd.change(i, t, n)
		return
	}
	i = max(i, 0)
	if p.nodes[nd.child[i]].n == fan {
		p.split(k, i)
		nd = &p.nodes[k]
		if nd.at[i+1] <= t {
			i++
		}
	}
	p.changeIn(nd.child[i], t, n)
	nd = &p.nodes[k]
	switch left := p.nodes[nd.child[i]].n; {
	case left == 0:
		p.drop(nd, i)
		p.join(nd, i-1)
	case left < fan/2:
		p.note(nd, i)
		p.join(nd, i)
		p.join(nd, i-1)
	default:
		p.note(nd, i)
	}
}

// find returns the index of the last entry that begins at t or before, or -1.
func (nd *node) find(t int64) int {
	for i, at := range nd.at[:nd.n] {
		if at > t {
			return i - 1
		}
	}
	return nd.n - 1
}

// change adds a change of n at t to a leaf. Entry i is the last one at t or before. It returns
// how many entries the leaf has gained: 1, 0 or -1.
func (nd *node) change(i int, t int64, n int32) int {
	switch {
	case i < 0 || nd.at[i] != t:
		copy(nd.at[i+2:], nd.at[i+1:nd.n])
		copy(nd.sum[i+2:], nd.sum[i+1:nd.n])
		nd.at[i+1], nd.sum[i+1] = t, n
		nd.n++
		return 1
	case nd.sum[i]+n != 0:
		nd.sum[i] += n
		return 0
	default:
		copy(nd.at[i:], nd.at[i+1:nd.n])
		copy(nd.sum[i:], nd.sum[i+1:nd.n])
		nd.n--
		return -1
	}
}

// note updates what an inner node knows of its child i.
func (p *Profile) note(nd *node, i int) {
	child := &p.nodes[nd.child[i]]
	sum, low, high := int32(0), int32(math.MaxInt32), int32(math.MinInt32)
	if child.leaf {
		for _, change := range child.sum[:child.n] {
			sum += change
			low, high = min(low, sum), max(high, sum)
		}
	} else {
		for j, change := range child.sum[:child.n] {
			low, high = min(low, sum+child.low[j]), max(high, sum+child.high[j])
			sum += change
		}
	}
	nd.at[i], nd.sum[i], nd.low[i], nd.high[i] = child.at[0], sum, low, high
}

// split splits child i of the inner node k, which has room for another child.
func (p *Profile) split(k int32, i int) {
	half := p.node(p.nodes[p.nodes[k].child[i]].leaf)
	nd := &p.nodes[k]
	left, right := &p.nodes[nd.child[i]], &p.nodes[half]
	right.copy(0, left, fan/2)
	left.n = fan / 2
	nd.copy(i+1, nd, i)
	nd.child[i+1] = half
	p.note(nd, i)
	p.note(nd, i+1)
}

// join merges the children i and i+1 of an inner node, if both exist and have few entries.
func (p *Profile) join(nd *node, i int) {
	if i < 0 || i+1 >= nd.n {
		return
	}
	left, right := &p.nodes[nd.child[i]], &p.nodes[nd.child[i+1]]
	if left.n+right.n > fan/2 {
		return
	}
	seam := left.n // where two grandchildren have become neighbours
	left.copy(seam, right, 0)
	if !left.leaf {
		p.join(left, seam-1)
	}
	p.drop(nd, i+1)
	p.note(nd, i)
}

// drop removes child i from an inner node.
func (p *Profile) drop(nd *node, i int) {
	p.spare = append(p.spare, nd.child[i])
	nd.copy(i, nd, i+1)
}

// copy replaces the entries of nd from i on by the entries of src from j on.
func (nd *node) copy(i int, src *node, j int) {
	end := src.n
	copy(nd.at[i:], src.at[j:end])
	copy(nd.sum[i:], src.sum[j:end])
	copy(nd.low[i:], src.low[j:end])
	copy(nd.high[i:], src.high[j:end])
	copy(nd.child[i:], src.child[j:end])
	nd.n = i + end - j
}

// node returns an empty node.
func (p *Profile) node(leaf bool) int32 {
	last := len(p.spare) - 1
	if last < 0 {
		p.nodes = append(p.nodes, node{leaf: leaf})
		return int32(len(p.nodes) - 1)
	}
	k := p.spare[last]
	p.spare = p.spare[:last]
	p.nodes[k].n, p.nodes[k].leaf = 0, leaf
	return k
}

// cursor goes through the changes of a Profile in the order of time.
type cursor struct {
	p     *Profile
	free  int32 // processors after all changes passed
	depth int   // of the present node; the root's is 0
	path  [height]struct{ node, i int32 }
}

// height is the most levels of a tree. Any two neighbouring nodes have more than fan/2 entries
// together, so a node has about 8 or more, and a tree has less than 2^31 changes.
const height = 12

// start goes to the first change after t.
func (c *cursor) start(p *Profile, t int64) {
	c.p, c.free = p, p.free
	k, i := p.root, 0
	for {
		nd := &p.nodes[k]
		at := nd.at[:nd.n]
		if nd.leaf {
			for i = 0; i < len(at) && at[i] <= t; i++ {
				c.free += nd.sum[i]
			}
			break
		}
		for i = 0; i+1 < len(at) && at[i+1] <= t; i++ {
			c.free += nd.sum[i]
		}
		if at[i] > t {
			break
		}
		c.path[c.depth].node, c.path[c.depth].i = k, int32(i+1)
		c.depth++
		k = nd.child[i]
	}
	c.path[c.depth].node, c.path[c.depth].i = k, int32(i)
}

// next skips the leaves in which the number of free processors stays at n or above (if open)
// or below n (if not), and returns the changes of the next leaf. The caller adds them to free.
// It returns no changes if the rest is at limit or later.
func (c *cursor) next(n int32, open bool, limit int64) (at []int64, change []int32) {
search:
	for c.depth >= 0 {
		here := &c.path[c.depth]
		nd, i := &c.p.nodes[here.node], int(here.i)
		c.depth--
		if nd.leaf {
			if i < nd.n {
				return nd.at[i:nd.n], nd.sum[i:nd.n]
			}
			continue
		}
		for ; i < nd.n; i++ {
			if nd.at[i] >= limit {
				return nil, nil
			}
			if open && c.free+nd.low[i] < n || !open && c.free+nd.high[i] >= n {
				here.i = int32(i + 1)
				c.depth += 2
				c.path[c.depth].node, c.path[c.depth].i = nd.child[i], 0
				continue search
			}
			c.free += nd.sum[i]
		}
	}
	return nil, nil
}
