package downey

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// Correction takes the bias out of predicted waits, by what became of earlier
// ones: a least-squares line of the logarithm of the wait on that of its
// prediction (section 5.4). Waits of less than a second count as one. The zero
// Correction has seen nothing.
type Correction struct {
	line stats.Line
}

// enough is how many waits must have come before any prediction is corrected. A
// line through the first few may be steep or fall, and the choices made by it then
// decide which predictions are learnt from.
const enough = 30

// Learn takes in a prediction, as it was before correction, and the wait that
// came, both in seconds.
func (c *Correction) Learn(predicted, wait float64) {
	c.line.Add(logSeconds(predicted), logSeconds(wait))
}

// Len returns how many waits it has learnt from.
func (c *Correction) Len() int { return c.line.Len() }

// Apply corrects a prediction; none, as long as too little has been learnt.
func (c *Correction) Apply(predicted float64) float64 {
	intercept, slope, ok := c.line.Fit()
	if !ok || c.line.Len() < enough || predicted == 0 {
		return predicted
	}
	return math.Exp(intercept + slope*logSeconds(predicted))
}

// Distribution sets d to the distribution of the wait of which a prediction was
// made: normal in the logarithm around the corrected one, as the waits learnt from
// lie around the line. It reports false as long as too little has been learnt.
func (c *Correction) Distribution(predicted float64, d *delay.Distribution) bool {
	intercept, slope, ok := c.line.Fit()
	if !ok || c.line.Len() < enough {
		return false
	}
	mean, spread := intercept+slope*logSeconds(predicted), c.line.Spread()
	for i := range d {
		d[i] = cumulative(logSeconds(delay.At(i))-mean, spread)
	}
	return true
}

// cumulative is the distribution function of a normal distribution around 0.
func cumulative(x, deviation float64) float64 {
	switch {
	case deviation > 0:
		return math.Erfc(-x/(deviation*math.Sqrt2)) / 2
	case x < -1e-9:
		return 0
	}
	return 1
}

func logSeconds(t float64) float64 { return math.Log(max(t, 1)) }
