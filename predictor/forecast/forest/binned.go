package forest

import (
	"math"
	"slices"
)

// binned says which bin of each feature a case lies in. Features of which all cases lie in the same
// bins share a column: where there is one partition, what is known of the partition is what is
// known of all.
type binned struct {
	edges  []edges // by feature
	column []int32 // by feature
	// by column: the first of its features; they ascend. The last feature has a column of its own
	// after these.
	distinct []int32
	// room for so many rows of cases: as many as there are until edges are drawn anew
	rows  int
	codes []word // by block of columns and, in each, by row
	due   uint64 // the value of cases.pushed at which edges are drawn anew
	coded uint64 // the value of cases.pushed when codes were last computed

	// late is how many of the last features, but for the very last, may be 0 in all cases for long.
	// usual has a value of each feature: its only one, or nearly, if it has no edges. unusual is
	// how many other values late features without edges have had since edges were drawn.
	late    int
	usual   []float32
	unusual int
}

const (
	// bins is the number of bins of a feature, a power of 2. Each has about as many cases.
	bins = 64
	// redrawn is the number of cases after which edges are drawn anew.
	redrawn = 20_000
	// edgeSample is the number of newest cases that edges are drawn by.
	edgeSample = 5000
	// mostUnusual is how many unusual values there are until edges are drawn anew: if they come in
	// a row, more than a bin has.
	mostUnusual = 4 * edgeSample / bins
	// wide is the number of columns of a block, which are read at once. Blocks lie one after the
	// other, since trees count a block of many cases at a time: so what they add up stays in the
	// nearest cache.
	wide = 8
)

// word has the bins of a case in the columns of a block, a byte each.
type word uint64

// wordOf returns the word of the first bytes, which the compiler reads at once.
func wordOf(b []uint8) word {
	_ = b[wide-1]
	return word(b[0]) | word(b[1])<<8 | word(b[2])<<16 | word(b[3])<<24 |
		word(b[4])<<32 | word(b[5])<<40 | word(b[6])<<48 | word(b[7])<<56
}

// put stores the bytes of a word, which the compiler writes at once.
func (w word) put(b []uint8) {
	_ = b[wide-1]
	b[0], b[1], b[2], b[3] = uint8(w), uint8(w>>8), uint8(w>>16), uint8(w>>24)
	b[4], b[5], b[6], b[7] = uint8(w>>32), uint8(w>>40), uint8(w>>48), uint8(w>>56)
}

// place is where the bins of a column are.
type place struct {
	from  int32 // the first row of its block in binned.codes
	shift uint8 // of its byte in a word
}

// at returns where the bins of a column are.
func (b *binned) at(column int32) place {
	return place{column / wide * int32(b.rows), uint8(column % wide * 8)}
}

// code returns the bin of a case in the column.
func (p place) code(codes []word, row int32) uint8 { return uint8(codes[p.from+row] >> p.shift) }

// blocks returns the number of blocks.
func (b *binned) blocks() int { return (len(b.distinct) + wide) / wide }

// block returns the words of a block, by row.
func (b *binned) block(i int) []word { return b.codes[i*b.rows:][:b.rows] }

// isLate reports whether a feature is one of the late ones.
func (b *binned) isLate(f int) bool { return f < len(b.edges)-1 && f >= len(b.edges)-1-b.late }

// tells reports whether cuts are tried of a feature: a late one has none until its values differ.
func (b *binned) tells(f int) bool { return !b.isLate(f) || b.edges[f].divide() }

// bin computes the codes of the new cases. When it is time, it first draws edges anew, and then
// computes the codes of all cases. It is time, too, when enough of them differ in a late feature.
func (b *binned) bin(c *cases) {
	b.watch(c)
	if c.pushed >= b.due || b.unusual >= mostUnusual {
		b.due = c.pushed + min(c.pushed, redrawn)
		b.rows = int(min(b.due, window))
		b.redraw(c)
		b.arrange(c)
	}
	if !b.encode(c, min(c.pushed-b.coded, uint64(c.n))) {
		b.arrange(c)
		b.encode(c, uint64(c.n))
	}
	b.coded = c.pushed
}

// watch counts the unusual values of late features of the new cases.
func (b *binned) watch(c *cases) {
	for n := min(c.pushed-b.coded, uint64(c.n)); n > 0 && len(b.edges) > 0; n-- {
		x := c.row(c.at(int(n - 1)))
		for f := max(0, c.width-1-b.late); f < c.width-1; f++ {
			if x[f] != b.usual[f] && !b.edges[f].divide() {
				b.unusual++
			}
		}
	}
}

// redraw draws the edges by the newest cases.
func (b *binned) redraw(c *cases) {
	b.edges, b.usual, b.unusual = resize(b.edges, c.width), resize(b.usual, c.width), 0
	values := make([]float32, min(c.n, edgeSample))
	for f := range b.edges {
		for age := range values {
			values[age] = c.x[c.at(age)*c.width+f]
		}
		slices.Sort(values)
		b.edges[f].draw(values)
		b.usual[f] = values[len(values)/2]
	}
}

// arrange finds which features can share a column, and makes room for the codes of all cases, which
// are to be computed.
func (b *binned) arrange(c *cases) {
	last := c.width - 1
	b.column, b.distinct, b.coded = resize(b.column, c.width), b.distinct[:0], 0
	for f := range last {
		k := slices.IndexFunc(b.distinct, func(other int32) bool { return b.alike(c, f, int(other)) })
		if k < 0 {
			k = len(b.distinct)
			b.distinct = append(b.distinct, int32(f))
		}
		b.column[f] = int32(k)
	}
	b.column[last] = int32(len(b.distinct))
	b.codes = resize(b.codes, b.blocks()*b.rows)
}

// alike reports whether all cases lie in the same bin of two features, and these have the same
// edges.
func (b *binned) alike(c *cases, f, other int) bool {
	if b.edges[f] != b.edges[other] {
		return false
	}
	for age := range c.n {
		if x := c.row(c.at(age)); b.edges[f].bin(x[f]) != b.edges[f].bin(x[other]) {
			return false
		}
	}
	return true
}

// encode computes the codes of the newest n cases. It reports false, and stops, if features that
// share a column lie in different bins.
func (b *binned) encode(c *cases, n uint64) bool {
	last := c.width - 1
	codes := make([]uint8, b.blocks()*wide)
	for ; n > 0; n-- {
		i := c.at(int(n - 1))
		x := c.row(i)
		for k, f := range b.distinct {
			codes[k] = b.edges[f].bin(x[f])
		}
		codes[b.column[last]] = b.edges[last].bin(x[last])
		for k := range b.blocks() {
			b.block(k)[i] = wordOf(codes[k*wide:])
		}
		for f, v := range x[:last] {
			if k := b.column[f]; b.distinct[k] != int32(f) && b.edges[f].bin(v) != codes[k] {
				return false
			}
		}
	}
	return true
}

// edges are the largest values of the bins of a feature, ascending. Bins that are not
// needed end at infinity.
type edges [bins]float32

// draw draws edges so that about as many of the values lie in each bin. Values ascend.
func (e *edges) draw(values []float32) {
	last, n := len(values)-1, 0
	for k := 1; k < bins; k++ {
		if v := values[k*len(values)/bins]; v < values[last] && (n == 0 || v > e[n-1]) {
			e[n] = v
			n++
		}
	}
	for ; n < bins; n++ {
		e[n] = float32(math.Inf(1))
	}
}

// divide reports whether there is more than one bin.
func (e *edges) divide() bool { return e[0] < math.MaxFloat32 }

// bin returns the bin that a value lies in.
func (e *edges) bin(v float32) uint8 {
	i := 0
	for half := bins / 2; half > 0; half /= 2 {
		if v > e[i+half-1] {
			i += half
		}
	}
	return uint8(i)
}
