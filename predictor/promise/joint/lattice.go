package joint

import "math"

// smooth is the number of points of the lattice rule if each set has one variable. Otherwise the
// integrand has steps, because chance decides which variable of a set succeeds. Then stepped is the
// number of points.
const smooth, stepped = 1 << 12, 1 << 14

// generators returns the square roots of the first n primes, one for each dimension (Richtmyer). In
// each dimension, the points of a lattice differ from one to the next by the root.
func generators(n int) []float64 {
	var roots []float64
	for p := 2; len(roots) < n; p++ {
		prime := true
		for d := 2; d*d <= p; d++ {
			prime = prime && p%d > 0
		}
		if prime {
			roots = append(roots, math.Sqrt(float64(p)))
		}
	}
	return roots
}

// lattice returns the probability that in each set at least one variable is at most its bound. The
// elements of sizes are the numbers of variables of the sets. The variables are standard normal, in
// the order of their sets. root is the Cholesky root of their correlation matrix.
//
// The variables are drawn one after another, each given the earlier ones (Genz 1992). If no
// variable of a set has succeeded before the last, the last one is drawn so that it succeeds. The
// probability of this success is a factor of the point's weight. So if each set has one variable,
// this is Genz's integral over an orthant. The points are a lattice, folded so that the integrand
// is periodic. With n variables it takes O(n^2) for each point.
func lattice(sizes []int, bounds []float64, root [][]float64) float64 {
	n := len(bounds)
	steps, y := generators(n), make([]float64, n)
	points := smooth
	if len(sizes) < n {
		points = stepped
	}
	sum := 0.
	for point := range points {
		weight, i := 1., 0
		for _, size := range sizes {
			succeeded := false
			for k := range size {
				mean := 0.
				for j, l := range root[i][:i] {
					mean += l * y[j]
				}
				success := cdf((bounds[i] - mean) / root[i][i])
				_, part := math.Modf((float64(point) + .5) * steps[i])
				u := math.Abs(2*part - 1)
				if k == size-1 && !succeeded {
					weight *= success
					u *= success
				} else {
					succeeded = succeeded || u <= success
				}
				y[i] = quantile(max(1e-300, min(u, 1-1e-16)))
				i++
			}
			if weight == 0 {
				break
			}
		}
		sum += weight
	}
	return sum / float64(points)
}
