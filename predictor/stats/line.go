package stats

import "math"

// Line is a least-squares line through points that are added one by one, each in constant
// time. The zero Line has no points.
type Line struct {
	n            float64
	meanX, meanY float64
	xx, xy, yy   float64 // sums of products of deviations from the means
}

// Add adds a point.
func (l *Line) Add(x, y float64) {
	l.n++
	dx, dy := x-l.meanX, y-l.meanY
	l.meanX += dx / l.n
	l.meanY += dy / l.n
	l.xx += dx * (x - l.meanX)
	l.xy += dx * (y - l.meanY)
	l.yy += dy * (y - l.meanY)
}

// Len returns the number of points.
func (l *Line) Len() int { return int(l.n) }

// Fit returns the line y = intercept + slope x that leaves the least sum of
// squares. It reports false unless two of the points differ in x.
func (l *Line) Fit() (intercept, slope float64, ok bool) {
	if !(l.xx > 0) {
		return 0, 0, false
	}
	slope = l.xy / l.xx
	return l.meanY - slope*l.meanX, slope, true
}

// Correlation returns Pearson's correlation coefficient, or 0 if the points do not differ in
// x or do not differ in y.
func (l *Line) Correlation() float64 {
	if !(l.xx > 0 && l.yy > 0) {
		return 0
	}
	return l.xy / math.Sqrt(l.xx*l.yy)
}

// Spread returns the standard deviation of the points from the line of Fit, along y, or 0 if
// there is no such line.
func (l *Line) Spread() float64 {
	if !(l.xx > 0) {
		return 0
	}
	return math.Sqrt(max(0, l.yy-l.xy*l.xy/l.xx) / l.n)
}
