package fit

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// data are runs as the search for a curve needs them.
type data struct {
	sizes []int32   // the different ones, ascending
	of    []int     // by run, the index of its size
	times []float64 // by run, the logarithm of its seconds

	speedups, left []float64 // room for speedups by size and residuals by run
}

// newData takes in runs in increasing order of nodes.
func newData(runs []Run) *data {
	d := &data{}
	for _, r := range runs {
		if k := len(d.sizes); k == 0 || d.sizes[k-1] != r.Nodes {
			d.sizes = append(d.sizes, r.Nodes)
		}
		d.of = append(d.of, len(d.sizes)-1)
		d.times = append(d.times, math.Log(r.Seconds))
	}
	return d
}

// candidate is a curve with the work that fits it best.
type candidate struct {
	family *family
	place  []float64 // of its parameters in the search
	curve  speedup.Curve
	work   float64 // logarithm of seconds
	scale  float64 // the standard deviation of the residuals
	weight float64 // how much is to be said for it, Akaike's; those of all candidates sum up to 1
}

// at returns the logarithm of the run time on n nodes.
func (c candidate) at(n int32) float64 { return c.work - math.Log(c.curve.Of(float64(n))) }

// family is a kind of curve. Its parameters are numbers from 0 to 1 to the search.
type family struct {
	parameters int
	curve      func(u []float64, largest float64) speedup.Curve
	steps      []int // of the first grid, in each direction
}

var (
	amdahl = &family{1, func(u []float64, _ float64) speedup.Curve {
		return speedup.Amdahl{Serial: u[0] * u[0] * u[0]}
	}, []int{32}}
	downey = &family{2, func(u []float64, largest float64) speedup.Curve {
		return speedup.Downey{A: math.Pow(beyond*largest, u[0]), Sigma: mostSigma * u[1] * u[1]}
	}, []int{20, 8}}
)

const (
	// beyond is by how much the average parallelism may exceed the largest size: more makes no
	// difference to the sizes seen.
	beyond = 16
	// mostSigma bounds the variance of parallelism, which is typically 0 to 2 (Downey 1997).
	mostSigma = 10
)

// The constants of robust estimates.
const (
	// huber is from how many scales on a residual counts less than by its square, for 95 % of the
	// efficiency of least squares where errors are normal.
	huber = 1.345
	// normal makes the median absolute deviation the standard deviation of a normal distribution.
	normal = 1.4826
	// leastScale is what runs are taken to differ by at least, even if all seen are alike.
	leastScale = .005
)

// candidates returns the fits of all families that the runs are enough for, the best first, each
// with its Akaike weight.
func (d *data) candidates() []candidate {
	simple := d.fit(amdahl)
	simple.weight = 1
	// With the work and the scale, Downey's model has four parameters.
	if len(d.sizes) < 3 || len(d.times) < LeastRuns+1 {
		return []candidate{simple}
	}
	rich := d.fit(downey)
	common := min(simple.scale, rich.scale)
	more := d.criterion(rich, common) - d.criterion(simple, common)
	rich.weight = 1 / (1 + math.Exp(more/2))
	simple.weight = 1 - rich.weight
	if more < 0 {
		return []candidate{rich, simple}
	}
	return []candidate{simple, rich}
}

// criterion is AICc by Huber's loss, with a scale.
func (d *data) criterion(c candidate, scale float64) float64 {
	n, k := float64(len(d.times)), float64(c.family.parameters+2) // the work and the scale
	loss := 0.
	for _, r := range d.residuals(c) {
		loss += rho(r / scale)
	}
	return 2*loss + 2*k + 2*k*(k+1)/max(n-k-1, .5)
}

// rho is Huber's loss.
func rho(z float64) float64 {
	if z = math.Abs(z); z > huber {
		return huber*z - huber*huber/2
	}
	return z * z / 2
}

// residuals returns those of the runs.
func (d *data) residuals(c candidate) []float64 {
	r := make([]float64, len(d.times))
	for i, t := range d.times {
		r[i] = t - c.at(d.sizes[d.of[i]])
	}
	return r
}

// fit returns the best curve of a family: first by least absolute deviations, which need no scale,
// and then by Huber's loss with the scale of what they leave.
func (d *data) fit(f *family) candidate {
	place := f.search(f.grid(), func(u []float64) float64 {
		loss, _ := d.absolute(f, u)
		return loss
	})
	_, work := d.absolute(f, place)
	scale := d.scale(candidate{family: f, curve: d.curve(f, place), work: work})
	return d.near(f, append(f.grid(), place), scale)
}

// near returns the best curve of a family by Huber's loss, searched for from some places on.
func (d *data) near(f *family, starts [][]float64, scale float64) candidate {
	place := f.search(starts, func(u []float64) float64 {
		loss, _ := d.huber(f, u, scale)
		return loss
	})
	_, work := d.huber(f, place, scale)
	return candidate{family: f, place: place, curve: d.curve(f, place), work: work, scale: scale}
}

func (d *data) curve(f *family, u []float64) speedup.Curve {
	return f.curve(u, float64(d.sizes[len(d.sizes)-1]))
}

// scale returns the standard deviation of the residuals, robustly.
func (d *data) scale(c candidate) float64 {
	r := d.residuals(c)
	for i := range r {
		r[i] = math.Abs(r[i])
	}
	sort.Float64s(r)
	free := max(1, len(r)-c.family.parameters-1)
	return max(leastScale, normal*median(r)*math.Sqrt(float64(len(r))/float64(free)))
}

// works returns by run the logarithm of its work, if the curve at u holds. The result is valid
// until the next call.
func (d *data) works(f *family, u []float64) []float64 {
	curve := d.curve(f, u)
	d.speedups, d.left = d.speedups[:0], d.left[:0]
	for _, n := range d.sizes {
		d.speedups = append(d.speedups, math.Log(curve.Of(float64(n))))
	}
	for i, t := range d.times {
		d.left = append(d.left, t+d.speedups[d.of[i]])
	}
	return d.left
}

// absolute returns the sum of absolute deviations with the curve at u, and the work for which it is
// least: the median.
func (d *data) absolute(f *family, u []float64) (loss, work float64) {
	works := d.works(f, u)
	sort.Float64s(works)
	work = median(works)
	for _, w := range works {
		loss += math.Abs(w - work)
	}
	return loss, work
}

// huber returns Huber's loss with the curve at u, and the work for which it is least.
func (d *data) huber(f *family, u []float64, scale float64) (loss, work float64) {
	works := d.works(f, u)
	work = location(works, scale)
	for _, w := range works {
		loss += rho((w - work) / scale)
	}
	return loss, work
}

// location returns the number around which Huber's loss is least. From the mean on it takes
// Newton's steps, which end where the same numbers are within reach of the loss's square as before;
// if most are not, a reweighted mean instead, which always lessens the loss.
func location(numbers []float64, scale float64) float64 {
	const (
		steps     = 50
		precision = 1e-6
	)
	here := 0.
	for _, x := range numbers {
		here += x / float64(len(numbers))
	}
	reach := huber * scale
	for range steps {
		pull, inside, sum, total := 0., 0, 0., 0.
		for _, x := range numbers {
			d := x - here
			if math.Abs(d) <= reach {
				pull += d
				inside++
				sum += x
				total++
				continue
			}
			pull += math.Copysign(reach, d)
			w := reach / math.Abs(d)
			sum += w * x
			total += w
		}
		next := sum / total
		if 2*inside > len(numbers) {
			next = here + pull/float64(inside)
		}
		done := math.Abs(next-here) < precision*scale
		here = next
		if done {
			break
		}
	}
	return here
}
