package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// waiting is what is awaited in a test: it happens at a rate that depends on its features.
type waiting struct {
	id  int64
	x   []float32
	end int64
}

// world has 30 jobs that wait, at any time, each of which starts at a rate a second.
type world struct {
	hazards *Hazards
	random  *rand.Rand
	rate    func(x []float32) float64
	now     int64
	jobs    []waiting
	came    int64
}

func newWorld(rate func(x []float32) float64, b Background) *world {
	return &world{
		hazards: NewHazards(4, []int64{600, 7200}, rand.New(rand.NewPCG(1, 2)), b),
		random:  rand.New(rand.NewPCG(3, 4)), rate: rate, now: 1e6,
	}
}

// live lets some minutes pass. In each, one job is seen.
func (w *world) live(minutes int) {
	for range minutes {
		w.now += 60
		w.jobs = slices.DeleteFunc(w.jobs, func(j waiting) bool {
			if j.end > w.now {
				return false
			}
			w.hazards.Happened(j.id, j.end)
			return true
		})
		for len(w.jobs) < 30 {
			w.came++
			j := waiting{id: w.came, x: make([]float32, 4)}
			draw(j.x, w.random)
			j.end = w.now + int64(w.random.ExpFloat64()/w.rate(j.x))
			w.jobs = append(w.jobs, j)
		}
		j := w.jobs[w.random.IntN(len(w.jobs))]
		w.hazards.See(j.x, j.id, w.now)
		w.hazards.Grow(w.now)
	}
}

// rising is a rate a second that rises with a feature from once in three hours to once in six
// minutes.
func rising(x []float32) float64 { return math.Exp(3.4*float64(x[1])) / 10_800 }

// TestHazards: probabilities are near the truth.
func TestHazards(t *testing.T) {
	w := newWorld(rising, nil)
	w.live(20_000)
	x := make([]float32, 4)
	const asked = 1000
	var off, bias [2]float64
	for range asked {
		draw(x, w.random)
		for i, y := range w.hazards.LogOdds(nil, x) {
			p, want := 1/(1+math.Exp(-float64(y))), 1-math.Exp(-rising(x)*float64(w.hazards.horizons[i]))
			off[i] += math.Abs(p-want) / asked
			bias[i] += (p - want) / asked
		}
	}
	for i := range off {
		if off[i] > .1 || math.Abs(bias[i]) > .05 {
			t.Errorf("within %d s: off by %.3f, bias %.3f", w.hazards.horizons[i], off[i], bias[i])
		}
	}
}

// TestWaitingTeaches: when nothing happens any more, log-odds fall, though no delay ends.
func TestWaitingTeaches(t *testing.T) {
	w := newWorld(rising, nil)
	w.live(5000)
	x := []float32{.5, .9, .5, .5}
	before := w.hazards.LogOdds(nil, x)
	w.rate = func([]float32) float64 { return 1e-9 }
	w.live(3000) // those that wait start
	came := w.came
	w.live(40_000)
	if w.came != came {
		t.Fatal("delays end")
	}
	for i, after := range w.hazards.LogOdds(nil, x) {
		if after > before[i]-3 {
			t.Errorf("within %d s: %.2f before, %.2f after", w.hazards.horizons[i], before[i], after)
		}
	}
}

// TestHazardsOfNothing: before anything is known, and if all that is seen is withdrawn, log-odds
// are 0.
func TestHazardsOfNothing(t *testing.T) {
	h := NewHazards(2, []int64{60}, rand.New(rand.NewPCG(1, 1)), nil)
	for id := range int64(3000) {
		h.See([]float32{1, float32(id)}, id, id*100)
		h.Withdrawn(id, id*100+50)
		h.Happened(id, id*100+55)
		h.Grow(id*100 + 50)
		if y := h.LogOdds(nil, []float32{1, 2}); len(y) != 1 || y[0] != 0 {
			t.Fatalf("log-odds %v", y)
		}
	}
}

// TestHazardsInTheBackground: whenever trees grow, they come into use at the same time.
func TestHazardsInTheBackground(t *testing.T) {
	answer := func(b Background) []float32 {
		w := newWorld(rising, b)
		w.live(4000)
		return w.hazards.LogOdds(nil, []float32{.5, .9, .5, .5})
	}
	first := answer(nil)
	for name, background := range map[string]Background{
		"concurrently": func(task func()) { go task() },
		"never":        func(func()) {},
	} {
		if again := answer(background); !slices.Equal(again, first) {
			t.Errorf("%v, growing %s %v", first, name, again)
		}
	}
}

// TestOutcomes compares outcomes with those of a plain list of all sights, while more are seen than
// are kept.
func TestOutcomes(t *testing.T) {
	type plainSight struct {
		id, at, end int64
		happened    bool
	}
	random := rand.New(rand.NewPCG(5, 6))
	s := newSights(1)
	var all []plainSight
	var waiting []int64
	ended := map[int64]bool{}
	now, id := int64(0), int64(0)
	check := func(horizon int64) {
		var want []outcome
		for i := len(all) - 1; i >= max(0, len(all)-(window-reserve)) && len(want) < mostOutcomes; i-- {
			switch p := all[i]; {
			case p.at+horizon >= now || p.end <= p.at+horizon && !p.happened:
			case p.end <= p.at+horizon:
				want = append(want, outcome{int32(i % window), 1})
			default:
				want = append(want, outcome{int32(i % window), 0})
			}
		}
		if got := s.outcomes(nil, horizon, now); !slices.Equal(got, want) {
			t.Fatalf("after %d sights: %d outcomes, want %d", len(all), len(got), len(want))
		}
	}
	for len(all) < 2*window {
		now += random.Int64N(3)
		for len(waiting) < 100 {
			id++
			waiting = append(waiting, id)
		}
		i := random.IntN(len(waiting))
		if random.IntN(20) > 0 {
			s.add([]float32{float32(len(all))}, waiting[i], now)
			all = append(all, plainSight{id: waiting[i], at: now, end: open})
			if row := s.at(0); s.cases.row(row)[0] != float32(len(all)-1) || s.number(row) != uint64(len(all)) {
				t.Fatalf("row %d has number %d", row, s.number(row))
			}
		} else {
			happened := random.IntN(3) > 0
			s.end(waiting[i], now, happened)
			ended[waiting[i]] = true
			for k := len(all) - 1; k >= max(0, len(all)-window); k-- {
				if all[k].id == waiting[i] {
					all[k].end, all[k].happened = now, happened
				}
			}
			waiting = slices.Delete(waiting, i, i+1)
		}
		if len(all)%9973 == 0 {
			check(10)
			check(3000)
		}
	}
	for id := range s.open {
		if ended[id] {
			t.Errorf("%d is awaited", id)
		}
	}
	for range window { // of one that waits for ever
		s.add([]float32{0}, -1, now)
	}
	if list := s.open[-1]; len(s.open) != 1 || len(list) != window || list[0] != s.pushed-window {
		t.Errorf("%d are awaited, with %d sights of one", len(s.open), len(list))
	}
}

// TestChanceAddsUp: the log-odds that are kept by row are those of the trees, also after the oldest
// have gone, and the leaves of a new tree make the steps that a plain sum over its sights tells.
func TestChanceAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	s := newSights(4)
	x := make([]float32, 4)
	var m chance
	g := growers{random: grower{rng: random}}
	for round := range int64(3 * chanceTrees / chanceGrown) {
		for range 300 {
			draw(x, random)
			s.add(x, 1, round)
			if random.Float32() < x[2] {
				s.end(1, round+1, true)
			} else {
				s.end(1, round+3, true)
			}
		}
		of := s.outcomes(nil, 2, round+9)
		m.begin(of)
		stable := s.stable()
		g.use(&stable)
		grown := m.grow(&g, of)
		last := grown[len(grown)-1]
		for _, tree := range grown {
			m.put(tree, chanceTrees)
		}
		var sums [2][256]float64
		for _, row := range g.random.rows {
			leaf := last.leaf(s.cases.row(int(row)))
			sums[0][leaf] += float64(m.gradient[row])
			sums[1][leaf] += float64(m.curvature[row])
		}
		for i, n := range last.nodes {
			want := chanceRate * max(-longestStep, min(sums[0][i]/(sums[1][i]+ridge), longestStep))
			if n.feature < 0 && math.Abs(float64(n.cut)-want) > 1e-3 {
				t.Fatalf("round %d: a leaf of %v, want %v", round, n.cut, want)
			}
		}
		for _, o := range of {
			if want := m.logOdds(s.cases.row(int(o.row))); math.Abs(float64(m.logOddsOf[o.row]-want)) > 1e-3 {
				t.Fatalf("round %d: %v, want %v", round, m.logOddsOf[o.row], want)
			}
		}
	}
}

// BenchmarkSee sees sights of 90 features, of which 100 are awaited at once. From time to time, it
// grows trees for three horizons.
func BenchmarkSee(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	h := NewHazards(90, []int64{1800, 14_400, 86_400}, random, nil)
	x, now := make([]float32, 90), int64(0)
	for b.Loop() {
		draw(x, random)
		now += 300
		h.See(x, now/300%100, now)
		if random.Float32() < x[0]*x[1] {
			h.Happened(random.Int64N(100), now)
		}
		h.Grow(now)
	}
}

func BenchmarkLogOdds(b *testing.B) {
	w := newWorld(rising, nil)
	w.live(20_000)
	x, list := make([]float32, 4), make([]float32, 0, 2)
	for b.Loop() {
		draw(x, w.random)
		list = w.hazards.LogOdds(list[:0], x)
	}
}
