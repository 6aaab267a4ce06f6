package stats

import (
	"math"
	"math/big"
	"strconv"
	"testing"
)

// atMost sums the binomial distribution term by term in 200-bit arithmetic.
func atMost(n int, p float64) []float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	success, failure := number(p), new(big.Float).SetPrec(200).Sub(number(1), number(p))
	term := number(1)
	for range n {
		term.Mul(term, failure)
	}
	total := number(0)
	sums := make([]float64, n+1)
	for k := 0; k <= n; k++ {
		total.Add(total, term)
		sums[k], _ = total.Float64()
		// C(n,k+1)/C(n,k) = (n-k)/(k+1)
		term.Mul(term, success).Mul(term, number(float64(n-k)))
		term.Quo(term, failure).Quo(term, number(float64(k+1)))
	}
	return sums
}

func TestAtMostAgainstSum(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for _, p := range []float64{.01, .5, .75, .95, .99} {
			for k, want := range atMost(n, p) {
				if got := AtMost(k, n, p); math.Abs(got-want) > 1e-12 {
					t.Fatalf("AtMost(%d, %d, %v) = %v, want %v", k, n, p, got, want)
				}
			}
		}
	}
}

func TestQuantileBoundAgainstSum(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for _, q := range []float64{.05, .5, .75, .9, .95} {
			sums := atMost(n, q)
			for _, c := range []float64{.6, .8, .95, .99} {
				want := 0 // the least k with P[Bin(n,q) <= k-1] >= c
				for k := n; k >= 1 && sums[k-1] >= c; k-- {
					want = k
				}
				k, confidence, ok := QuantileBound(n, q, c)
				if k != want || ok != (want > 0) {
					t.Fatalf("QuantileBound(%d, %v, %v) = %d, %v, want %d", n, q, c, k, ok, want)
				}
				if ok && (confidence < c || math.Abs(confidence-sums[k-1]) > 1e-12) {
					t.Fatalf("QuantileBound(%d, %v, %v) has confidence %v, want %v", n, q, c, confidence, sums[k-1])
				}
			}
		}
	}
}

func TestSampleSize(t *testing.T) {
	for _, c := range []float64{.5, .9, .95, .99} {
		for _, q := range []float64{.1, .5, .75, .9, .95, .99} {
			n := SampleSize(q, c)
			if _, _, ok := QuantileBound(n, q, c); !ok {
				t.Errorf("SampleSize(%v, %v) = %d, which gives no bound", q, c, n)
			}
			if _, _, ok := QuantileBound(n-1, q, c); ok {
				t.Errorf("SampleSize(%v, %v) = %d, but %d would do", q, c, n, n-1)
			}
		}
	}
}

// TestLowerProportionInvertsQuantileBound: if the k-th smallest value bounds the q-quantile,
// then k successes have a lower bound of q or more, and k-1 successes have less.
func TestLowerProportionInvertsQuantileBound(t *testing.T) {
	for _, n := range []int{1, 2, 10, 59, 60, 200, 1000, 10_000} {
		for _, q := range []float64{.05, .3, .5, .75, .9, .95, .99} {
			k, _, ok := QuantileBound(n, q, .95)
			if !ok {
				k = n + 1
			}
			if k <= n && LowerProportion(k, n, .95) < q {
				t.Errorf("n=%d: %d successes vouch for %v, less than %v", n, k, LowerProportion(k, n, .95), q)
			}
			if LowerProportion(k-1, n, .95) >= q {
				t.Errorf("n=%d: %d successes vouch for %v, already %v", n, k-1, LowerProportion(k-1, n, .95), q)
			}
		}
	}
}

func TestLowerProportionSolvesItsEquation(t *testing.T) {
	for _, c := range []float64{.5, .9, .95, .999} {
		for _, n := range []int{1, 2, 3, 10, 59, 200, 1000, 10_000, 200_000, 1_000_000} {
			previous := 0.
			for _, share := range []float64{0, .0001, .01, .1, .3, .5, .7, .9, .99, .9999, 1} {
				x := int(math.Round(share * float64(n)))
				p := LowerProportion(x, n, c)
				if p < previous || p > share+.5/float64(n) && c > .5 {
					t.Errorf("LowerProportion(%d, %d, %v) = %v after %v", x, n, c, p, previous)
				}
				previous = p
				if x == 0 {
					continue
				}
				if got := AtMost(x-1, n, p); math.Abs(got-c) > 1e-9 {
					t.Errorf("LowerProportion(%d, %d, %v) = %v, whose confidence is %v", x, n, c, p, got)
				}
			}
		}
	}
}

func BenchmarkQuantileBound(b *testing.B) {
	for _, n := range []int{59, 10_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				QuantileBound(n, .95, .95)
			}
		})
	}
}

func BenchmarkLowerProportion(b *testing.B) {
	for _, n := range []int{59, 10_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				LowerProportion(i%n, n, .95)
			}
		})
	}
}

func TestProportionInterval(t *testing.T) {
	const c = .95
	for n := range 40 {
		for x := range n + 1 {
			low, high := ProportionInterval(x, n, c)
			// At each end, the observed number and all more extreme ones have probability
			// (1-c)/2.
			if x == 0 && low != 0 || x > 0 && math.Abs(1-AtMost(x-1, n, low)-(1-c)/2) > 1e-3 {
				t.Errorf("%d of %d: from %v", x, n, low)
			}
			if x == n && high != 1 || x < n && math.Abs(AtMost(x, n, high)-(1-c)/2) > 1e-3 {
				t.Errorf("%d of %d: to %v", x, n, high)
			}
		}
	}
}
