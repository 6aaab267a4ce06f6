package blend

import "github.com/varq-project/varq/predictor/delay"

// tails says how much probability moves how many points up the grid of delays. First 2%
// of the probability of each delay moves 9 points up: from half an hour to about 80
// minutes. Then 1% of the result moves 23 points up: from half an hour to about 6 hours.
var tails = [...]struct {
	points int
	share  float64
}{{9, .02}, {23, .01}}

// addTails gives a small probability to delays longer than those that the experts expect.
//
// An expert that learns from the past believes a delay impossible that is longer than all
// past ones. When a queue grows longer than ever, each outcome would have a PIT of 1 (see
// package recalibration), and recalibration would learn only that what was certain did
// not come true. With tails, these PITs are below 1 by how far out the outcomes lie, and
// recalibration learns that too.
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

// keepTail undoes the recalibration of the long half of d's delays as far as the queue lies beyond
// all that was learnt from. before is the forecast before recalibration, and share is
// Evidence.Beyond.
//
// Recalibration has learnt what forecasts of ordinary queues are worth. What is forecast of a queue
// that is longer rests on simulations, and outcomes are late: in the first hours of a flood,
// recalibration would shorten the tail that waits are in. It is kept wholly where share is a half
// or more, and where before gives probabilities of .75 or more.
func keepTail(d, before *delay.Distribution, share float64) {
	share = min(1, 2*share)
	last := 0.
	for i, p := range before {
		kept := share * min(1, 4*max(0, p-.5))
		last = max(last, d[i]+kept*(p-d[i]))
		d[i] = last
	}
}
