package sched

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveProfile is a Profile with a number for each moment from 0 on. The last number stands for
// all later moments.
type naiveProfile struct {
	begin int64
	free  []int32
}

func (p *naiveProfile) at(t int64) int32 {
	return p.free[min(max(t, p.begin), int64(len(p.free)-1))]
}

func (p *naiveProfile) add(from, to int64, n int32) {
	for t := max(from, p.begin); t < min(to, int64(len(p.free))); t++ {
		p.free[t] += n
	}
}

// last is a moment after which nothing changes.
func (p *naiveProfile) last() int64 { return max(p.begin, int64(len(p.free))) }

func (p *naiveProfile) fits(from, to int64, n int32) bool {
	for t := max(from, p.begin); t < to; t++ {
		if p.at(t) < n {
			return false
		}
		if t > p.last() {
			break
		}
	}
	return true
}

func (p *naiveProfile) earlierFit(from, before, length int64, n int32) int64 {
	for t := max(from, p.begin); t < before; t++ {
		if p.fits(t, min(add(t, length), before), n) {
			return t
		}
		if t > p.last() {
			break
		}
	}
	return before
}

func (p *naiveProfile) latestFit(from, to, length int64, n int32) (int64, bool) {
	from, to = max(from, p.begin), min(to, Never-1)
	if from <= to && p.fits(to, add(to, length), n) {
		return to, true
	}
	// All moments after the last change are alike.
	for t := min(to, p.last()); t >= from; t-- {
		if p.fits(t, add(t, length), n) {
			return t, true
		}
	}
	return 0, false
}

func (p *naiveProfile) steps() (steps []naiveStep) {
	for t := p.begin; t <= p.last(); t++ {
		if t == p.begin || p.at(t) != p.at(t-1) {
			steps = append(steps, naiveStep{t, p.at(t)})
		}
	}
	return steps
}

type naiveStep struct {
	At   int64
	Free int32
}

func stepsOf(p *Profile) (steps []naiveStep) {
	for t, free := range p.Steps() {
		steps = append(steps, naiveStep{t, free})
	}
	return steps
}

// opSize is how many bytes of data a step of replayProfile takes.
const opSize = 8

// replayProfile calls the methods of a Profile that data encodes, and compares each answer with
// that of a naiveProfile.
func replayProfile(t *testing.T, moments int, data []byte) {
	const procs = 9
	fast, slow := new(Profile), &naiveProfile{free: make([]int32, moments)}
	fast.Reset(0, procs)
	slow.add(0, Never, procs)
	other := new(Profile)
	other.Reset(-7, 3)
	moment := func(b []byte) int64 {
		v := int64(binary.LittleEndian.Uint16(b))
		if v >= 0xF000 {
			return Never - v%4
		}
		return v%int64(moments+8) - 4
	}
	for k := 0; len(data) >= opSize; k, data = k+1, data[opSize:] {
		op, n := data[0]%8, int32(int8(data[1]))%12
		from, to, third := moment(data[2:]), moment(data[4:]), moment(data[6:])
		length := max(1, third)
		var got, want any
		switch op {
		case 0, 1:
			if to >= int64(moments) {
				to = Never // naiveProfile has no change so late
				from = min(from, int64(moments-1))
			}
			fast.Add(from, to, n)
			slow.add(from, to, n)
			got, want = fast.At(third), slow.at(third)
		case 2:
			if by := third % 4; to%8 == 0 && slow.begin+by < int64(moments) {
				slow.begin += max(0, by)
			}
			fast.Advance(slow.begin)
			got, want = fast.At(from), slow.at(from)
		case 3:
			got, want = fast.Fits(from, to, n), slow.fits(from, to, n)
		case 4:
			got, want = fast.EarliestFit(from, length, n), slow.earlierFit(from, Never, length, n)
		case 5:
			got, want = fast.EarlierFit(from, to, length, n), slow.earlierFit(from, to, length, n)
		case 6:
			at, ok := fast.LatestFit(from, to, length, n)
			naive, naiveOK := slow.latestFit(from, to, length, n)
			got, want = fmt.Sprint(at, ok), fmt.Sprint(naive, naiveOK)
			if !ok && !naiveOK {
				continue
			}
		case 7:
			other.CopyFrom(fast)
			fast.Add(from, to, n) // must not change the copy
			fast, other = other, fast
		}
		if got != want {
			t.Fatalf("step %d, op %d(%d, %d, %d; %d): %v, want %v in\n%v", k, op, from, to, third, n, got, want, slow.steps())
		}
		if k%64 == 0 || len(data) < 2*opSize {
			checkProfile(t, fast)
			got, want := stepsOf(fast), slow.steps()
			if !slices.Equal(got, want) {
				t.Fatalf("step %d: steps (-want +got):\n%s", k, cmp.Diff(want, got))
			}
			if fast.Len() != len(want) {
				t.Fatalf("step %d: Len is %d, want %d", k, fast.Len(), len(want))
			}
		}
	}
}

// checkProfile checks the invariants of the tree.
func checkProfile(t *testing.T, p *Profile) {
	t.Helper()
	nodes, changes, last := len(p.spare), 0, p.begin
	leaves := -1 // their depth
	var check func(k int32, depth int)
	check = func(k int32, depth int) {
		nodes++
		nd := &p.nodes[k]
		if nd.n > fan || nd.n == 0 && k != p.root || nd.n == 0 && !nd.leaf || depth >= height {
			t.Fatalf("node %d has %d entries at depth %d", k, nd.n, depth)
		}
		if !nd.leaf {
			for i := range nd.n {
				at, sum, low, high := nd.at[i], nd.sum[i], nd.low[i], nd.high[i]
				p.note(nd, i)
				if at != nd.at[i] || sum != nd.sum[i] || low != nd.low[i] || high != nd.high[i] {
					t.Fatalf("node %d, entry %d: noted %d %d %d %d, want %d %d %d %d",
						k, i, at, sum, low, high, nd.at[i], nd.sum[i], nd.low[i], nd.high[i])
				}
				if i > 0 && p.nodes[nd.child[i-1]].n+p.nodes[nd.child[i]].n <= fan/2 {
					t.Fatalf("node %d: entries %d and %d are sparse", k, i-1, i)
				}
				check(nd.child[i], depth+1)
			}
			return
		}
		if leaves < 0 {
			leaves = depth
		}
		if depth != leaves {
			t.Fatalf("leaf %d is at depth %d, another at %d", k, depth, leaves)
		}
		changes += nd.n
		for i, at := range nd.at[:nd.n] {
			if at <= last || nd.sum[i] == 0 {
				t.Fatalf("change of %d at %d follows %d", nd.sum[i], at, last)
			}
			last = at
		}
	}
	check(p.root, 0)
	if changes != p.n || nodes != len(p.nodes) {
		t.Fatalf("%d changes, %d noted; %d nodes, %d used or spare", changes, p.n, len(p.nodes), nodes)
	}
}

// randomOps returns n steps for replayProfile: mostly Add for a while, so that the
// profile grows, and then all kinds but one.
func randomOps(rng *rand.Rand, n int) []byte {
	data := make([]byte, n*opSize)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	spared := byte(rng.IntN(8))
	grown := rng.IntN(n)
	for i := 0; i < n; i++ {
		if op := &data[i*opSize]; *op%8 == spared || i < grown && rng.IntN(8) > 0 {
			*op = 0
		}
	}
	return data
}

func TestProfileMatchesNaive(t *testing.T) {
	for _, size := range []struct{ runs, moments, ops int }{
		{2000, 16, 60}, {300, 80, 200}, {2, 2000, 5000},
	} {
		t.Run(fmt.Sprint(size.moments), func(t *testing.T) {
			var seed uint64
			t.Cleanup(func() {
				if t.Failed() {
					t.Log("seed", seed)
				}
			})
			for seed = range uint64(size.runs) {
				rng := rand.New(rand.NewPCG(seed, uint64(size.moments)))
				replayProfile(t, size.moments, randomOps(rng, size.ops))
			}
		})
	}
}

func FuzzProfile(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(randomOps(rand.New(rand.NewPCG(seed, 0)), 100))
	}
	f.Fuzz(func(t *testing.T, data []byte) { replayProfile(t, 100, data) })
}

// TestProfileAddIsUndone: if everything that was added is removed again, in any order, no
// step is left, and the nodes are used again.
func TestProfileAddIsUndone(t *testing.T) {
	const jobs = 10_000
	rng := rand.New(rand.NewPCG(1, 2))
	var p Profile
	p.Reset(-1000, 100)
	most := 0
	for range 3 {
		type job struct {
			from, to int64
			n        int32
		}
		var all []job
		for range jobs {
			from := rng.Int64N(1_000_000) - 500
			j := job{from, from + 1 + rng.Int64N(5000), 1 + rng.Int32N(8)}
			p.Add(j.from, j.to, -j.n)
			all = append(all, j)
		}
		checkProfile(t, &p)
		if most > 0 && len(p.nodes) > most+most/4 {
			t.Errorf("%d nodes, %d at first", len(p.nodes), most)
		}
		most = max(most, len(p.nodes))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, j := range all {
			p.Add(j.from, j.to, j.n)
			if i%1000 == 0 {
				checkProfile(t, &p)
			}
		}
		if got, want := stepsOf(&p), []naiveStep{{-1000, 100}}; !slices.Equal(got, want) {
			t.Fatalf("left is %v, want %v", got, want)
		}
	}
}

func TestProfileAtTheEdgesOfTime(t *testing.T) {
	const first = -1 << 62
	var p Profile
	p.Reset(first, 4)
	p.Add(first, 0, -3)
	p.Add(Never-10, Never, -4)
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"longer than half of all time", p.EarliestFit(first, Never, 1), int64(first)},
		{"to the very end", p.EarliestFit(first, Never-10, 2), int64(0)},
		{"a second too long", p.EarliestFit(first, Never-9, 2), int64(Never)},
		{"for ever", p.EarliestFit(Never-1, Never, 0), int64(Never - 1)},
		{"never asked for", p.EarliestFit(Never, 1, 0), int64(Never)},
		{"before the beginning", p.EarlierFit(first-5, 7, Never, 1), int64(first)},
		{"until before", p.EarlierFit(first, 7, Never, 2), int64(0)},
		{"no time", p.EarlierFit(9, 7, 1, 1), int64(7)},
		{"fits for ever", p.Fits(0, Never, 0), true},
		{"does not", p.Fits(0, Never, 1), false},
		{"nothing fits nowhere", p.Fits(5, 5, 100), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for at, free := range p.Steps() {
		if at != first || free != 1 {
			t.Errorf("the first step is %d at %d", free, at)
		}
		break
	}
	if at, ok := p.LatestFit(first, Never, 1, 1); at != Never-11 || !ok {
		t.Errorf("LatestFit = %d, %v", at, ok)
	}
	if at, ok := p.LatestFit(first, Never, Never, 1); at != -10 || !ok {
		t.Errorf("LatestFit of all time = %d, %v", at, ok)
	}
}
