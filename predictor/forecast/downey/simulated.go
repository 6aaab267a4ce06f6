package downey

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
)

// futures is how many futures of the machine Simulated draws for each choice.
const futures = 40

// fewRuns is how many longer runs of like size there must be for them alone to tell how long a job
// still runs.
const fewRuns = 20

// mostRuns is how many runs of a size are remembered.
const mostRuns = 4000

// history has the run times of past jobs, by size: the k-th range of sizes begins at 2^k.
type history struct {
	ranges [32]runs
	all    runs
}

// runs are run times in seconds.
type runs struct {
	sorted, inOrder []float64
	next            int // of inOrder, the oldest
}

// add remembers a run time, and forgets the oldest if there are too many.
func (r *runs) add(seconds float64) {
	if len(r.inOrder) == mostRuns {
		i := sort.SearchFloat64s(r.sorted, r.inOrder[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
		r.inOrder[r.next] = seconds
		r.next = (r.next + 1) % mostRuns
	} else {
		r.inOrder = append(r.inOrder, seconds)
	}
	r.sorted = slices.Insert(r.sorted, sort.SearchFloat64s(r.sorted, seconds), seconds)
}

func (h *history) learn(procs int32, seconds float64) {
	h.ranges[bits.Len32(uint32(procs))-1].add(seconds)
	h.all.add(seconds)
}

// longer returns the run times of past jobs like one of some processors that has run for a time:
// those that ran longer than that. If too few of the same size did, it returns those of all sizes.
func (h *history) longer(procs int32, age float64) []float64 {
	for _, r := range []*runs{&h.ranges[bits.Len32(uint32(procs))-1], &h.all} {
		if i := sort.SearchFloat64s(r.sorted, age); len(r.sorted)-i >= fewRuns {
			return r.sorted[i:]
		}
	}
	return nil
}

// simulated returns the expected waits for one more processor than are free, two more and so on, up
// to most: the mean over futures in which each running job ends as past jobs of its size that had
// run for as long did. A job that has run longer than nearly all runs for up to as long again.
func (s *System) simulated(h *head) []float64 {
	m := h.machine
	s.waits = slices.Grow(s.waits[:0], int(h.most))[:h.most-m.free]
	clear(s.waits)
	longer := make([][]float64, len(m.jobs))
	for i, a := range m.jobs {
		longer[i] = s.history.longer(a.procs, h.now-a.start)
	}
	drawn := make([]allocation, len(m.jobs))
	for range futures {
		for i, a := range m.jobs {
			age := h.now - a.start
			run := age * (1 + s.random.Float64())
			if n := len(longer[i]); n > 0 {
				run = longer[i][s.random.IntN(n)]
			}
			drawn[i] = allocation{procs: a.procs, end: max(0, run-age)}
		}
		slices.SortFunc(drawn, func(a, b allocation) int { return cmp.Compare(a.end, b.end) })
		at := 0
		for _, a := range drawn {
			for k := int32(0); k < a.procs && at < len(s.waits); k++ {
				s.waits[at] += a.end / futures
				at++
			}
		}
	}
	return s.waits
}

// newRandom returns random numbers with a fixed seed, so that runs can be repeated.
func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, math.Float64bits(math.Pi))) }
