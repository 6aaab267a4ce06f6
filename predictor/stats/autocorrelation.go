package stats

// Lag1 estimates the lag-1 autocorrelation of a window that slides over a series. Values
// enter at its new end and leave at its old end, each in constant time. The zero Lag1 is an
// empty window.
type Lag1 struct {
	n           int
	first, last float64
	sum, square float64
	product     float64 // sum of the products of neighbours
}

// Push adds x at the new end.
func (l *Lag1) Push(x float64) {
	if l.n == 0 {
		l.first = x
	} else {
		l.product += l.last * x
	}
	l.n++
	l.last = x
	l.sum += x
	l.square += x * x
}

// Drop removes the oldest value. next is the value after it, which becomes the oldest. The
// window must have two values or more.
func (l *Lag1) Drop(next float64) {
	l.n--
	l.sum -= l.first
	l.square -= l.first * l.first
	l.product -= l.first * next
	l.first = next
}

// Mean returns the mean of the window, or 0 if it is empty.
func (l *Lag1) Mean() float64 { return l.sum / float64(max(1, l.n)) }

// Autocorrelation returns the usual estimate: the sum of the products of neighbours'
// deviations from the mean, divided by the sum of squared deviations. It is 0 if the window
// has fewer than 3 values, or only equal ones.
func (l *Lag1) Autocorrelation() float64 {
	if l.n < 3 {
		return 0
	}
	n := float64(l.n)
	mean := l.sum / n
	variance := l.square - n*mean*mean
	if variance <= 1e-9*l.square {
		return 0
	}
	// sum (x_i - m)(x_i+1 - m) = product - m (2 sum - first - last) + (n-1) m^2
	return (l.product - mean*(2*l.sum-l.first-l.last) + (n-1)*mean*mean) / variance
}
