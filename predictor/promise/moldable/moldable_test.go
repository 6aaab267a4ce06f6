package moldable

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// sampled returns the distribution of some equally likely delays.
func sampled(delays []float64) *delay.Distribution {
	var d delay.Distribution
	for i := range d {
		for _, x := range delays {
			if x <= delay.At(i) {
				d[i] += 1 / float64(len(delays))
			}
		}
		d[i] = min(1, d[i])
	}
	return &d
}

func options(random *rand.Rand) []Option {
	all := make([]Option, 1+random.IntN(8))
	for i := range all {
		// Few different values, so that there are ties.
		all[i] = Option{
			Nodes: int32(i + 1), Wait: 100 * float64(random.IntN(6)), Run: 100 * float64(1+random.IntN(6)),
			Cost: float64(random.IntN(3)), Prob: float64(random.IntN(3)) / 2,
		}
		if random.IntN(6) == 0 {
			all[i].Wait = math.Inf(1)
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// TestChoose against sorting all options.
func TestChoose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		all := options(random)
		for _, by := range append(Criteria, "") {
			sorted := slices.Clone(all)
			slices.SortFunc(sorted, func(a, b Option) int {
				unknown := func(o Option) int {
					if math.IsInf(o.Wait, 1) {
						return 1
					}
					return 0
				}
				if c := cmp.Compare(unknown(a), unknown(b)); c != 0 {
					return c
				}
				first := 0
				switch by {
				case Cheapest:
					first = cmp.Compare(a.Cost, b.Cost)
				case Highest:
					first = cmp.Compare(b.Prob, a.Prob)
				}
				return cmp.Or(first, cmp.Compare(a.Wait+a.Run, b.Wait+b.Run), cmp.Compare(a.Nodes, b.Nodes))
			})
			best, ok := Rules{By: by}.Choose(all)
			if !ok || all[best] != sorted[0] {
				t.Fatalf("%s: %+v of %+v, want %+v", by, all[best], all, sorted[0])
			}
			if averse, _ := (Rules{By: by, Aversion: .2}).Choose(all); by != Least && by != "" && averse != best {
				t.Fatalf("%s: aversion to waiting changes the choice", by)
			}
		}
	}
	if _, ok := (Rules{}).Choose(nil); ok {
		t.Error("something was chosen out of nothing")
	}
}

// TestAversion against trying all pairs: a job waits for what is not there first only for a gain.
func TestAversion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	waited, stayed := 0, 0
	for range 20_000 {
		all := options(random)
		const aversion = .3
		got, _ := Rules{Aversion: aversion}.Choose(all)
		free, _ := Rules{Aversion: math.MaxFloat64}.Choose(all)
		best, _ := Rules{}.Choose(all)
		for i := range all {
			if all[i].Wait < all[free].Wait-together {
				t.Fatalf("%+v starts before %+v", all[i], all[free])
			}
			if math.Abs(all[i].Wait-all[free].Wait) <= 0 && all[i].Turnaround() < all[free].Turnaround() {
				t.Fatalf("%+v starts with %+v, and is better", all[i], all[free])
			}
		}
		gain := all[free].Turnaround() - all[best].Turnaround()
		want := free
		if gain > aversion*all[free].Run {
			want = best
			waited++
		} else if free != best {
			stayed++
		}
		if got != want {
			t.Fatalf("%+v of %+v, want %+v", all[got], all, all[want])
		}
	}
	if waited < 1000 || stayed < 1000 {
		t.Errorf("%d waited and %d stayed", waited, stayed)
	}
}

// TestTogether: options that start within a minute start together.
func TestTogether(t *testing.T) {
	all := []Option{{Nodes: 4, Wait: 0, Run: 1000}, {Nodes: 5, Wait: 60, Run: 900}, {Nodes: 6, Wait: 61, Run: 850}}
	if got, _ := (Rules{Aversion: .2}).Choose(all); all[got].Nodes != 5 {
		t.Errorf("%+v", all[got])
	}
	if got, _ := (Rules{}).Choose(all); all[got].Nodes != 6 {
		t.Errorf("without aversion: %+v", all[got])
	}
}

func TestReconsider(t *testing.T) {
	all := []Option{{Nodes: 1, Run: 100}, {Nodes: 2, Wait: 500, Run: 50}}
	if got := (Rules{LockIn: true}).Reconsider(1, all); got != 1 {
		t.Errorf("locked in, the job changes to %d", got)
	}
	if got := (Rules{}).Reconsider(1, all); got != 0 {
		t.Errorf("the job waits on for %d", got)
	}
}

// TestWait against drawing waits.
func TestWait(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for _, spread := range []float64{.1, 1, 2} {
		delays := make([]float64, 20_000)
		for i := range delays {
			delays[i] = 600 * math.Exp(spread*random.NormFloat64())
		}
		slices.Sort(delays)
		got := Wait(sampled(delays))
		most := delays[len(delays)*95/100]
		sum := 0.
		for _, x := range delays {
			sum += min(x, most)
		}
		// The grid's cells are some 11 % of a delay plus a second wide.
		if want := sum / float64(len(delays)); math.Abs(got-want) > .055*want+1 {
			t.Errorf("spread %v: %v, want %v", spread, got, want)
		}
	}
}

// TestWaitIsRobust: a tail without end does not count, and a forecast of which more has none is
// unknown.
func TestWaitIsRobust(t *testing.T) {
	inf := math.Inf(1)
	few, many := make([]float64, 100), make([]float64, 100)
	for i := range few {
		few[i], many[i] = 100, 100
		if i >= 96 {
			few[i] = inf
		}
		if i >= 94 {
			many[i] = inf
		}
	}
	if got := Wait(sampled(few)); math.Abs(got-100) > 10 {
		t.Errorf("with 4 %% that never start: %v", got)
	}
	if got := Wait(sampled(many)); got != inf {
		t.Errorf("with 6 %% that never start: %v", got)
	}
	if got := Wait(&delay.Distribution{}); got != inf {
		t.Errorf("none ever starts: %v", got)
	}
	if got := Wait(sampled([]float64{0})); got != 0 {
		t.Errorf("at once: %v", got)
	}
}

// TestEnds against all pairs of a wait and a run.
func TestEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		// Waits at points of the grid are exact but for the cell before each.
		waits, times := make([]float64, 50), make([]float64, 1+random.IntN(20))
		for i := range waits {
			waits[i] = delay.At(random.IntN(90))
		}
		for i := range times {
			times[i] = 3600 * random.Float64()
		}
		d := sampled(waits)
		within := 7200 * random.Float64()
		low, high := 0., 0.
		for _, w := range waits {
			cell := delay.Index(w)
			before := w
			if cell > 0 {
				before = delay.At(cell - 1)
			}
			for _, x := range times {
				if w+x <= within {
					low++
				}
				if before+x <= within {
					high++
				}
			}
		}
		pairs := float64(len(waits) * len(times))
		if got := Ends(d, times, within); got < low/pairs-1e-9 || got > high/pairs+1e-9 {
			t.Fatalf("%v, want %v to %v", got, low/pairs, high/pairs)
		}
	}
}
