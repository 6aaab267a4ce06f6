package joint

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// abscissas and weights belong to the Gauss-Legendre rule with 20 points from 0 to 1.
var abscissas, weights = func() (x, w [20]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	return x, w
}()

// bivariate returns the probability P[X <= h, Y <= k] for two standard normal variables with
// correlation r. It uses Genz's (2004) form of Drezner and Wesolowsky's (1990) algorithm, exact to
// about 1e-15.
//
// Up to |r| = .925 it integrates Plackett's identity dP/dr = density(h, k; r) from r = 0, where P
// is the product. Beyond, the density is nearly singular. There it integrates from |r| = 1, and
// computes the first terms of a series at the singularity separately.
func bivariate(h, k, r float64) float64 {
	h, k = -h, -k // from here on, P[X > h, Y > k]
	if math.Abs(r) < .925 {
		sum, angle := 0., math.Asin(r)
		for i, x := range abscissas {
			sine := math.Sin(angle * x)
			sum += weights[i] * math.Exp((sine*h*k-(h*h+k*k)/2)/(1-sine*sine))
		}
		return sum*angle/(2*math.Pi) + cdf(-h)*cdf(-k)
	}
	sign := 1.
	if r < 0 {
		sign, k = -1, -k
	}
	p := 0.
	if hk, square := h*k, (1-r)*(1+r); square > 0 {
		root, gap := math.Sqrt(square), (h-k)*(h-k)
		c, d := (4-hk)/8, (12-hk)/16
		p = root * math.Exp(-(gap/square+hk)/2) * (1 - c*(gap-square)*(1-d*gap/5)/3 + c*d*square*square/5)
		if hk > -100 {
			b := math.Sqrt(gap)
			p -= math.Exp(-hk/2) * math.Sqrt(2*math.Pi) * cdf(-b/root) * b * (1 - c*gap*(1-d*gap/5)/3)
		}
		for i, x := range abscissas {
			at := root * x * root * x
			rest := math.Sqrt(1 - at)
			if e := -(gap/at + hk) / 2; e > -100 {
				p += root * weights[i] * math.Exp(e) * (math.Exp(-hk*(1-rest)/(2*(1+rest)))/rest - (1 + c*at*(1+d*at)))
			}
		}
		p /= -2 * math.Pi
	}
	if sign > 0 {
		return p + cdf(-max(h, k))
	}
	return max(0, cdf(k)-cdf(h)) - p
}

// cdf returns the probability that a standard normal variable is at most x.
func cdf(x float64) float64 { return distuv.UnitNormal.CDF(x) }

// quantile returns the x with cdf(x) = p, 0 < p < 1.
func quantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }
