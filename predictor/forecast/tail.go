package forecast

import "github.com/varq-project/varq/predictor/delay"

// tails are delays longer than those that a forecaster thinks of, by so many points
// of the grid, and the probability given to each: half an hour becomes about 80
// minutes, and 6 hours.
var tails = [...]struct {
	longer int
	share  float64
}{{10, .02}, {25, .01}}

// addTails allows for delays that have never been. Who learns from the past is
// sure that no delay is longer than any before; when a queue becomes longer than
// ever, that is wrong every time, and all that would be learnt of it is that what
// is certain does not hold. With a tail, it is learnt how far the delays lie in it.
func addTails(d *delay.Distribution) {
	for _, t := range tails {
		for i := delay.Points - 1; i >= 0; i-- {
			longer := 0.
			if i >= t.longer {
				longer = d[i-t.longer]
			}
			d[i] += t.share * (longer - d[i])
		}
	}
}
