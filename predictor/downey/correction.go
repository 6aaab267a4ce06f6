package downey

import (
	"math"

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

// Apply corrects a prediction; none, as long as too little has been learnt.
func (c *Correction) Apply(predicted float64) float64 {
	intercept, slope, ok := c.line.Fit()
	if !ok || c.line.Len() < enough || predicted == 0 {
		return predicted
	}
	return math.Exp(intercept + slope*logSeconds(predicted))
}

func logSeconds(t float64) float64 { return math.Log(max(t, 1)) }
