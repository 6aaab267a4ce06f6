package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// slowMultiset is a sorted slice, scanned from end to end.
type slowMultiset []uint32

func (m *slowMultiset) insert(v uint32) {
	*m = append(*m, v)
	slices.Sort(*m)
}

func (m *slowMultiset) delete(v uint32) bool {
	i := slices.Index(*m, v)
	if i < 0 {
		return false
	}
	*m = slices.Delete(*m, i, i+1)
	return true
}

func (m slowMultiset) through(v uint32) (count int, sum int64) {
	for _, w := range m {
		if w <= v {
			count++
			sum += int64(w)
		}
	}
	return count, sum
}

func compareMultisets(t *testing.T, fast *Multiset, slow slowMultiset, probe uint32) {
	t.Helper()
	if fast.Len() != len(slow) {
		t.Fatalf("Len() = %d, want %d", fast.Len(), len(slow))
	}
	count, sum := fast.Through(probe)
	if wantCount, wantSum := slow.through(probe); count != wantCount || sum != wantSum {
		t.Fatalf("Through(%d) = %d, %d, want %d, %d", probe, count, sum, wantCount, wantSum)
	}
	if rank := fast.Rank(probe); rank != count {
		t.Fatalf("Rank(%d) = %d, want %d", probe, rank, count)
	}
	if len(slow) > 0 {
		i := int(probe) % len(slow)
		if got := fast.Select(i); got != slow[i] {
			t.Fatalf("Select(%d) = %d, want %d", i, got, slow[i])
		}
	}
}

func TestMultisetAgainstSortedSlice(t *testing.T) {
	for _, span := range []uint32{3, 300, 1 << 31} {
		random := rand.New(rand.NewPCG(1, uint64(span)))
		var fast Multiset
		var slow slowMultiset
		for step := range 6000 {
			// Grows at first, then shrinks to nothing, so blocks split and merge.
			if v := random.Uint32N(span); random.IntN(6000) > step {
				fast.Insert(v)
				slow.insert(v)
			} else {
				if len(slow) > 0 && random.IntN(10) > 0 {
					v = slow[random.IntN(len(slow))]
				}
				if got, want := fast.Delete(v), slow.delete(v); got != want {
					t.Fatalf("Delete(%d) = %v, want %v", v, got, want)
				}
			}
			compareMultisets(t, &fast, slow, random.Uint32N(span))
		}
		for len(slow) > 0 {
			fast.Delete(slow[len(slow)/2])
			slow.delete(slow[len(slow)/2])
			compareMultisets(t, &fast, slow, random.Uint32N(span))
		}
	}
}

func BenchmarkMultiset(b *testing.B) {
	const n = 1_000_000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]uint32, n)
	for i := range values {
		values[i] = random.Uint32N(1 << 20)
	}
	var m Multiset
	for _, v := range values {
		m.Insert(v)
	}
	b.Run("slide", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.Delete(values[i%n])
			m.Insert(values[i%n])
		}
	})
	b.Run("through", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.Through(values[i%n])
		}
	})
	b.Run("select", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.Select(i % n)
		}
	})
}
