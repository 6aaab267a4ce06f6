package blend

import "github.com/varq-project/varq/predictor/delay"

// tails are parts of a distribution that are moved to longer delays, by a number of
// points of the grid: half an hour becomes about 80 minutes, and 6 hours.
var tails = [...]struct {
	points int
	share  float64
}{{10, .02}, {25, .01}}

// addTails gives delays that are longer than any before a small probability.
//
// An expert that learns from the past takes such delays to be impossible. When a queue
// grows longer than ever, each outcome then has a PIT of 1, and recalibration learns
// no more than that certainty does not hold. With tails, the PITs lie in them, and
// recalibration learns how far out.
func addTails(d *delay.Distribution) {
	for _, t := range tails {
		for i := delay.Points - 1; i >= 0; i-- {
			longer := 0.
			if i >= t.points {
				longer = d[i-t.points]
			}
			d[i] += t.share * (longer - d[i])
		}
	}
}
