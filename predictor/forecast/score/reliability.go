package score

import "math"

// Brier returns the Brier score of a probability p: its squared distance from the outcome,
// which is 1 if it came true and 0 if it did not.
func Brier(p float64, came bool) float64 {
	truth := 0.
	if came {
		truth = 1
	}
	return (p - truth) * (p - truth)
}

// Bins is the number of equal parts into which Reliability divides [0,1].
const Bins = 20

// Reliability sorts probabilities into bins, and counts how many came true.
type Reliability [Bins]Bin

// Bin is the probabilities in one of Bins equal parts of [0,1].
type Bin struct {
	N         int
	Predicted float64 // their sum
	True      int     // how many came true
	Squares   float64 // sum of their Brier scores
}

// Point is one bin in a reliability diagram.
type Point struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"` // of the probabilities
	True  float64 `json:"true"` // share that came true
}

// Add adds a probability and whether it came true.
func (r *Reliability) Add(p float64, came bool) {
	bin := &r[max(0, min(int(p*Bins), Bins-1))]
	bin.N++
	bin.Predicted += p
	bin.Squares += Brier(p, came)
	if came {
		bin.True++
	}
}

// Plus adds the probabilities of another Reliability.
func (r *Reliability) Plus(other *Reliability) {
	for i := range r {
		b, o := &r[i], &other[i]
		b.N += o.N
		b.Predicted += o.Predicted
		b.True += o.True
		b.Squares += o.Squares
	}
}

// Diagram returns a point for each bin that is not empty.
func (r *Reliability) Diagram() []Point {
	var points []Point
	for _, b := range r {
		if b.N > 0 {
			n := float64(b.N)
			points = append(points, Point{Count: b.N, Mean: b.Predicted / n, True: float64(b.True) / n})
		}
	}
	return points
}

// Error returns the expected calibration error: the mean over all probabilities of the
// distance, in a probability's bin, of the mean probability from the share that came true.
func (r *Reliability) Error() float64 {
	sum, n := 0., r.count()
	for _, p := range r.Diagram() {
		sum += math.Abs(p.Mean-p.True) * float64(p.Count) / n
	}
	return sum
}

// Brier returns the mean Brier score.
func (r *Reliability) Brier() float64 {
	sum := 0.
	for i := range r {
		sum += r[i].Squares
	}
	return sum / r.count()
}

// count returns the number of probabilities, or 1 if there are none.
func (r *Reliability) count() float64 {
	n := 0
	for i := range r {
		n += r[i].N
	}
	return float64(max(1, n))
}
