package walltime

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// distributions calls f with a busy predictor's distributions for many jobs and ages.
func distributions(f func(d *Distribution, age, limit int64)) {
	jobs, p := learnt(5_000)
	r := rand.New(rand.NewPCG(8, 8))
	for range 500 {
		j := &jobs[r.IntN(len(jobs))]
		for _, age := range []int64{0, 1, r.Int64N(j.Limit), j.Limit - 1, j.Limit, 2 * j.Limit} {
			d := p.Distribution(j, age)
			f(&d, age, j.Limit)
		}
	}
}

// TestDistributionAgreesWithItself: the methods of a distribution agree with one another,
// and their values are possible.
func TestDistributionAgreesWithItself(t *testing.T) {
	distributions(func(d *Distribution, age, limit int64) {
		last := max(1, min(age+1, limit), age)
		for i := range 101 {
			q := float64(i) / 100
			x := d.Quantile(q)
			if x < last || x > max(age, limit) {
				t.Fatalf("age %d, limit %d: %v quantile %d after %d", age, limit, q, x, last)
			}
			last = x
			if d.Within(x) < q-1e-6 || d.Below(x) > q+1e-6 {
				t.Fatalf("age %d, limit %d: %v quantile %d, but %v below it and %v within", age, limit, q, x, d.Below(x), d.Within(x))
			}
			if x > age && math.Abs(d.Below(x)-d.Within(x-1)) > 1e-9 {
				t.Fatalf("age %d: %v below %d, but %v within a second less", age, d.Below(x), x, d.Within(x-1))
			}
		}
		if d.Within(age) != 0 && age < limit {
			t.Fatalf("age %d: %v end before", age, d.Within(age))
		}
		if d.Within(max(age, limit)) != 1 || d.Quantile(1) != max(age, limit) {
			t.Fatalf("age %d, limit %d: %v at most that, the last %d", age, limit, d.Within(max(age, limit)), d.Quantile(1))
		}
	})
}

// TestDraw: draws follow the distribution.
func TestDraw(t *testing.T) {
	jobs, p := learnt(5_000)
	d := p.Distribution(&jobs[3], 20)
	r := rand.New(rand.NewPCG(9, 9))
	const n = 20_000
	draws := make([]int64, n)
	for i := range draws {
		draws[i] = d.Draw(r)
	}
	slices.Sort(draws)
	for i, x := range draws {
		share := float64(i) / n
		if share < d.Below(x)-.02 || share > d.Within(x)+.02 {
			t.Fatalf("%v of draws before %d, of which %v is below and %v within", share, x, d.Below(x), d.Within(x))
		}
	}
}

// TestMixtureAgainstSlow compares a mixture with a list of the weights of all past run
// times.
func TestMixtureAgainstSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 200 {
		age := r.Int64N(1000)
		limit := age + 2 + r.Int64N(5000)
		m := mixture{age: age, limit: limit, low: math.Log(float64(age) + .5), high: math.Log(float64(limit))}
		m.scale = cells / (m.high - m.low)
		type mass struct{ run, weight float64 }
		var all []mass
		n := 1 + r.IntN(30)
		for range n {
			run := min(float64(limit), float64(age)+1+r.ExpFloat64()*float64(limit-age))
			all = append(all, mass{run, .9 / float64(n)})
			m.add(math.Log(run), .9/float64(n))
		}
		slices.SortFunc(all, func(a, b mass) int { return cmp.Compare(a.run, b.run) })
		d := m.distribution(.1)
		cell := math.Exp(1 / m.scale)
		for range 50 {
			x := age + 1 + r.Int64N(limit-age)
			low, high := 0., .1
			for _, a := range all {
				if a.run*cell < float64(x) {
					low += a.weight
				}
				if a.run/cell <= float64(x)+1 {
					high += a.weight
				}
			}
			// The table is exact to one level.
			if got := d.Within(x); got < low-1./levels || got > high+1./levels && x < limit {
				t.Fatalf("%v within %d, want from %v to %v", got, x, low, high)
			}
		}
	}
}

// TestReliability: a distribution that is always wrong in the same way is corrected.
func TestReliability(t *testing.T) {
	said := Distribution{before: .9, limit: 3600}
	for i := range said.quantiles {
		said.quantiles[i] = .5 + float32(i)*1000/levels
	}
	var r reliability
	if got := said.recalibrated(&r, &r, .5); math.Abs(float64(got.Quantile(.45)-said.Quantile(.45))) > 1 || math.Abs(got.Below(3600)-.9) > 1e-6 {
		t.Errorf("without outcomes %+v became %+v", said, got)
	}
	source := rand.New(rand.NewPCG(11, 11))
	for range 5000 {
		run := int64(3600)
		if source.Float64() < .5 {
			run = 1 + int64(1000*math.Pow(source.Float64(), 3))
		}
		r.test(&said, run)
	}
	got := said.recalibrated(&r, &r, .3)
	if before := got.Below(3600); math.Abs(before-.5) > .05 {
		t.Errorf("%v end before the limit, half of them did", before)
	}
	for _, u := range []float64{.3, .5, .8, .95} {
		if x, want := float64(got.Quantile(u*got.Below(3600))), 1000*u*u*u; math.Abs(x-want) > 70 {
			t.Errorf("%v of those that end by themselves do so by %v, want %v", u, x, want)
		}
	}
}

// TestRanks: ranks are spread over atoms, and their weights decay.
func TestRanks(t *testing.T) {
	var r ranks
	r.add(.25, .75)
	if r.worth()[levels/2] != .5 || r.worth()[0] != 0 || r.worth()[levels] != 1 {
		t.Errorf("one rank around the middle moved it to %v", r.worth()[levels/2])
	}
	for range 10 * life {
		r.add(.9, .9)
	}
	for range 10 * life {
		r.add(.1, .1)
	}
	if q := r.worth()[levels-1]; q > .12 {
		t.Errorf("all ranks are .1 for a long time, but the last level is %v", q)
	}
}

// TestLongest: the longest of several runs is as drawn, and that of one is the run itself.
func TestLongest(t *testing.T) {
	jobs, p := learnt(5_000)
	d := p.Distribution(&jobs[3], 0)
	if d.Longest(1) != d {
		t.Error("the longest of one run is another one")
	}
	r := rand.New(rand.NewPCG(10, 10))
	for _, n := range []int32{2, 17, 1000} {
		of := d.Longest(n)
		const draws = 5000
		var longest []int64
		for range draws {
			most := int64(0)
			for range n {
				most = max(most, d.Draw(r))
			}
			longest = append(longest, most)
		}
		slices.Sort(longest)
		for _, q := range []float64{.05, .25, .5, .75, .95} {
			x := longest[int(q*draws)]
			if low, high := of.Below(x), of.Within(x); q < low-.03 || q > high+.03 {
				t.Errorf("of %d: %d s are longest with %.3f to %.3f, drawn %v", n, x, low, high, q)
			}
		}
	}
}
