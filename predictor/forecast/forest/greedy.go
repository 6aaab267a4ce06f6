package forest

import "slices"

// greedy grows trees each fork of which is the best of all cuts. Its trees share its memory.
type greedy struct {
	binned *binned
	how    growth
	target []float32 // by row
	value  func(samples []drawn) float32

	samples []drawn // in the order of the cases, within each node
	nodes   []node
	bins    []uint8 // by node: the bin of a fork's cut

	// Scratch.
	set     rowSet
	rows    []int32
	times   []int32 // by row; all are 0 while no tree begins to grow
	free    []sums  // for reuse
	right   []drawn
	targets []int32
}

// drawn is a case that was drawn a number of times.
type drawn struct {
	row   int32
	times int32
	sum   int64 // what it adds to sums
}

// sums are a histogram: by column and bin, the number of cases, and the sum of the
// deviations of their targets from a mean. Both numbers share an int64, as counting says.
type sums []int64

// tree grows a tree from rows, in which a row may come more than once. Value returns what a leaf of
// some samples predicts. The cost is O(s f d), with s different rows, f columns, and a depth of d,
// though a histogram of the larger child of a node costs nothing: it is what the smaller one leaves
// of the node's.
func (g *greedy) tree(how growth, rows []int32, target []float32, value func(samples []drawn) float32) grown {
	g.how, g.target, g.value, g.nodes, g.bins = how, target, value, g.nodes[:0], g.bins[:0]
	g.draw(rows)
	g.split(0, len(g.samples), len(rows), 0, nil)
	return grown{tree{nodes: slices.Clone(g.nodes)}, slices.Clone(g.bins)}
}

// draw makes samples of rows, each once.
func (g *greedy) draw(rows []int32) {
	if len(g.times) < len(g.target) {
		g.times = make([]int32, len(g.target))
	}
	for _, row := range rows {
		g.times[row]++
	}
	g.samples, g.rows = g.samples[:0], g.set.take(rows, g.rows)
	sum := 0
	for _, row := range g.rows {
		s := drawn{row: row, times: g.times[row]}
		g.times[row] = 0
		g.samples = append(g.samples, s)
		sum += int(g.steps(row)) * int(s.times)
	}
	mean := int32(sum / len(rows))
	for i := range g.samples {
		s := &g.samples[i]
		s.sum = (int64(g.steps(s.row)-mean)<<counting + 1) * int64(s.times)
	}
}

// steps returns the target of a row, in steps of 1/unit.
func (g *greedy) steps(row int32) int32 { return int32(g.target[row] * unit) }

// split grows the subtree of g.samples[from:to], which were drawn n times in all, and returns its
// root. of is nil or their sums; split frees it.
func (g *greedy) split(from, to, n, depth int, of sums) int32 {
	me := int32(len(g.nodes))
	samples := g.samples[from:to]
	g.nodes, g.bins = append(g.nodes, node{}), append(g.bins, 0)
	var f fork
	if g.mayFork(n, depth) {
		if of == nil {
			of = g.count(samples)
		}
		f = g.bestFork(of, n)
	}
	if f.gain == 0 {
		g.release(of)
		g.nodes[me] = node{-1, g.value(samples), int32(from), int32(to)}
		return me
	}
	border := from + g.partition(samples, f)
	var less, more sums
	if g.mayFork(max(f.cases, n-f.cases), depth+1) {
		less, more = g.divide(g.samples[from:border], g.samples[border:to], of)
	} else {
		g.release(of)
	}
	g.bins[me] = f.bin
	left := g.split(from, border, f.cases, depth+1, less)
	right := g.split(border, to, n-f.cases, depth+1, more)
	g.nodes[me] = node{f.feature, g.binned.edges[f.feature][f.bin], left, right}
	return me
}

// mayFork reports whether n samples are enough for a fork and at a depth that allows one.
func (g *greedy) mayFork(n, depth int) bool { return n >= 2*g.how.least && depth < g.how.depth }

// divide returns the sums of the left and the right part of some samples, of which of is the sums.
func (g *greedy) divide(left, right []drawn, of sums) (ofLeft, ofRight sums) {
	if len(left) > len(right) {
		ofRight, ofLeft = g.divide(right, left, of)
		return ofLeft, ofRight
	}
	ofLeft = g.count(left)
	for i, n := range ofLeft {
		of[i] -= n
	}
	return ofLeft, of
}

// release makes sums, unless nil, free for reuse.
func (g *greedy) release(of sums) {
	if of != nil {
		g.free = append(g.free, of)
	}
}

// count returns the sums of samples.
func (g *greedy) count(samples []drawn) sums {
	var of sums
	if last := len(g.free) - 1; last >= 0 {
		of, g.free = g.free[last], g.free[:last]
	}
	// without one that only the last feature has
	blocks := (len(g.binned.distinct) + wide - 1) / wide
	of = resize(of, blocks*wide*bins)
	clear(of)
	for k := range blocks {
		at, block := (*[wide * bins]int64)(of[k*wide*bins:]), g.binned.block(k)
		for i := range samples {
			s := &samples[i]
			c, one := block[s.row], s.sum
			at[c%bins] += one
			at[1*bins+c>>8%bins] += one
			at[2*bins+c>>16%bins] += one
			at[3*bins+c>>24%bins] += one
			at[4*bins+c>>32%bins] += one
			at[5*bins+c>>40%bins] += one
			at[6*bins+c>>48%bins] += one
			at[7*bins+c>>56%bins] += one
		}
	}
	return of
}

// bestFork returns the best of all cuts of samples that were drawn n times, given their sums.
func (g *greedy) bestFork(of sums, n int) fork {
	all := int64(0)
	for _, s := range of[:bins] {
		all += s
	}
	c := search{cases: n, mean: float32(all>>counting) / float32(n), least: g.how.least}
	for k, f := range g.binned.distinct {
		sum := int64(0)
		for bin, s := range of[k*bins:][:bins-1] {
			if sum += s; s != 0 {
				c.consider(f, uint8(bin), sum)
			}
		}
	}
	return c.best
}

// partition moves the samples up to the cut to the front, and returns their number. It keeps their
// order.
func (g *greedy) partition(samples []drawn, f fork) int {
	g.right = resize(g.right, len(samples))
	left, right, column := 0, 0, g.binned.at(g.binned.column[f.feature])
	for _, s := range samples {
		// either may be overwritten by the next: no processor could predict a branch
		samples[left], g.right[right] = s, s
		more := int((f.bin - column.code(g.binned.codes, s.row)) >> 7)
		left, right = left+1-more, right+more
	}
	copy(samples[left:], g.right[:right])
	return left
}

// median returns the median target.
func (g *greedy) median(samples []drawn) float32 {
	g.targets = g.targets[:0]
	for _, s := range samples {
		for target, times := g.steps(s.row), s.times; times > 0; times-- {
			g.targets = append(g.targets, target)
		}
	}
	return float32(middle(g.targets)) / unit
}

// middle returns the element in the middle of a list as it would be sorted. It changes the order.
// The cost is O(n) but for the rarest of lists.
func middle(list []int32) int32 {
	k := len(list) / 2
	for len(list) > 16 {
		a, b, c := list[0], list[len(list)/2], list[len(list)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(list)-1
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			list = list[:j+1]
		case k >= i:
			list, k = list[i:], k-i
		default:
			return pivot
		}
	}
	slices.Sort(list)
	return list[k]
}
