package fault

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The running sums of Rates equal the sums of its definition, over all events.
func TestRatesAgainstSums(t *testing.T) {
	const nodes = 30
	r := rand.New(rand.NewPCG(1, 2))
	for _, fading := range []float64{0, .01} {
		f := NewRates(nodes)
		type event struct {
			n  int
			at float64
		}
		var events []event
		now := 0.
		for range 200 {
			span := r.ExpFloat64()
			now += span
			f.Advance(span, span*fading)
			n := r.IntN(nodes) * r.IntN(2)
			events = append(events, event{n, now})
			f.Observe(n)
		}
		counts, noise, exposure := make([]float64, nodes), 0., now
		for _, e := range events {
			counts[e.n] += math.Exp(-fading * (now - e.at))
			noise += math.Exp(-2 * fading * (now - e.at))
		}
		sum, squares := 0., 0.
		for _, c := range counts {
			sum, squares = sum+c, squares+c*c
		}
		if fading > 0 { // each advance adds its span whole
			exposure = f.exposure
			if whole := -math.Expm1(-fading*now) / fading; math.Abs(exposure/whole-1) > .02 {
				t.Errorf("exposure %g, want %g", exposure, whole)
			}
		}
		mean := (sum + 1) / (nodes*exposure + 365)
		shape := 1 / max((squares-noise)*nodes/(sum*sum)-1, leastSpread)
		for n, c := range counts {
			want := (shape + c) / (shape/mean + exposure)
			if got := f.Rate(n); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("fading %g, node %d: %g, want %g", fading, n, got, want)
			}
		}
		total := 0.
		for n := range nodes {
			total += f.Rate(n)
		}
		if math.Abs(total/nodes/f.Mean()-1) > 1e-9 {
			t.Errorf("the mean is %g, want %g", f.Mean(), total/nodes)
		}
	}
}

// The Weibull fit maximises the likelihood, and is near the distribution that generated the gaps.
func TestAgesAgainstLikelihood(t *testing.T) {
	const nodes, shape, scale, until = 40, .6, 20., 300.
	r := rand.New(rand.NewPCG(4, 4))
	a := newAges(nodes)
	for n := range nodes {
		for at := 0.; ; {
			at += scale * math.Pow(r.ExpFloat64(), 1/shape)
			if at > until {
				break
			}
			a.observe(n, at)
		}
	}
	a.fit(until)
	likelihood := func(shape, scale float64) float64 {
		sum := 0.
		for _, gap := range a.gaps {
			sum += math.Log(shape/scale) + (shape-1)*math.Log(gap/scale) - math.Pow(gap/scale, shape)
		}
		for _, last := range a.last {
			sum -= math.Pow(max(until-last, leastGap)/scale, shape)
		}
		return sum
	}
	best := likelihood(a.shape, a.scale)
	for _, by := range []float64{.97, 1.03} {
		if likelihood(a.shape*by, a.scale) > best || likelihood(a.shape, a.scale*by) > best {
			t.Errorf("shape %g and scale %g are not the best", a.shape, a.scale)
		}
	}
	if math.Abs(a.shape/shape-1) > .1 || math.Abs(a.scale/scale-1) > .2 {
		t.Errorf("%d gaps give shape %g and scale %g, want %g and %g", len(a.gaps), a.shape, a.scale, shape, scale)
	}
	if got, want := a.expected(0, until, 5), math.Pow((until-a.last[0]+5)/a.scale, a.shape)-math.Pow((until-a.last[0])/a.scale, a.shape); got != want {
		t.Errorf("expected %g, want %g", got, want)
	}
}

// The vote loses no more than its bound against the best of the models, whichever it is.
func TestVoteBound(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	const models = len(Voters)
	for best := range models {
		v := NewVote(models)
		var sums [models]float64
		mixed := 0.
		const windows = 500
		for range windows {
			losses := make([]float64, models)
			for range 20 { // nodes
				risk := .2 * r.Float64()
				failed := r.Float64() < -math.Expm1(-risk)
				for i := range losses {
					said := risk
					if i != best {
						said = .2 * r.Float64()
					}
					losses[i] += Loss(said, failed)
				}
			}
			mean := 0.
			for i, loss := range losses {
				mean += v[i] * math.Exp(-loss)
				sums[i] += loss
			}
			mixed -= math.Log(mean)
			v.Learn(losses)
		}
		if bound := sums[best] + math.Log(float64(models)) - windows*math.Log(1-forget); mixed > bound {
			t.Errorf("model %d is right: the mixture loses %g, at most %g is allowed", best, mixed, bound)
		}
		if v[best] < .5 {
			t.Errorf("model %d is right, and has the parts %g", best, v)
		}
	}
}

// If nodes fail independently, a set is as risky as its nodes together.
func TestIndependentSizes(t *testing.T) {
	const nodes = 1000
	r := rand.New(rand.NewPCG(7, 7))
	var z sizes
	for range 5000 {
		failed := 0
		for range nodes {
			if r.Float64() < .002 {
				failed++
			}
		}
		z.learn(failed, nodes, .002*nodes)
	}
	for _, set := range []int{1, 2, 30, 500, 1000, 1 << 40} {
		if share := z.share(set); math.Abs(share-1) > .02 {
			t.Errorf("a set of %d: %g", set, share)
		}
	}
}
