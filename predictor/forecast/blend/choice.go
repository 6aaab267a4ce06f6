package blend

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// choice averages the forecast before recalibration, F, and after, R, at each delay t of the grid
// apart. R(t) has there the weight
//
//	1 / (1 + exp(choiceRate * (B(t) - prior)))
//
// and F(t) the rest. B(t) sums over past outcomes the Brier scores of R(t) less those of F(t):
//
//	(R(t) - 1[wait <= t])^2 - (F(t) - 1[wait <= t])^2
//
// The sum decays with each outcome. It has two parts: the outcomes of all users, and once more
// those of the job's user, about whom forecasts may err in a way of her own. So R and F are two
// experts with exponential weights, as in package mixture; the mean of a Brier score over the grid
// is the CRPS.
//
// Waits come in bursts, and recalibration takes those of one cause for as many. After a short past
// or a shock it may say of long delays what no expert does.
type choice struct {
	all   losses
	users map[string]*losses
}

// losses are a sum of Brier scores by delay: those of R less those of F.
type losses [delay.Points]float64

const (
	choiceRate  = 2
	choiceDecay = .998 // a half-life of 346 outcomes
	// prior is what B(t) has to exceed until F(t) weighs more than R(t): curves learnt from many
	// outcomes are mostly right.
	prior = 2
	// mostUsers is the most users remembered. When there are more, all are forgotten.
	mostUsers = 2000
)

func newChoice() choice { return choice{users: map[string]*losses{}} }

// learn takes in the outcome of a user's job, a delay in seconds. For others' forecasts it has a
// weight, between 0 and 1. It costs O(delay.Points).
func (c *choice) learn(user string, weight float64, raw, recalibrated *delay.Distribution, seconds float64) {
	c.all.add(weight, raw, recalibrated, seconds)
	if user == "" {
		return
	}
	own, ok := c.users[user]
	if !ok {
		if len(c.users) == mostUsers {
			clear(c.users)
		}
		own = new(losses)
		c.users[user] = own
	}
	own.add(1, raw, recalibrated, seconds)
}

// add takes in an outcome.
func (l *losses) add(weight float64, raw, recalibrated *delay.Distribution, seconds float64) {
	decay, outcome := math.Pow(choiceDecay, weight), delay.Index(seconds)
	for i := range l {
		came := 0.
		if i >= outcome {
			came = 1
		}
		r, f := recalibrated[i]-came, raw[i]-came
		l[i] = l[i]*decay + weight*(r*r-f*f)
	}
}

// mix sets d to the mixture for a user. It is made to rise where weights make it fall. It costs
// O(delay.Points).
func (c *choice) mix(user string, raw, recalibrated, d *delay.Distribution) {
	own := c.users[user]
	if own == nil {
		own = new(losses)
	}
	last := 0.
	for i, f := range raw {
		loss := c.all[i] + own[i] - prior
		last = max(last, f+(recalibrated[i]-f)/(1+math.Exp(choiceRate*loss)))
		d[i] = last
	}
}
