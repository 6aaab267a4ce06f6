package stream

import (
	"fmt"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/stats"
)

// Mean is a mean over jobs with its interval of confidence .95, by a bootstrap over jobs. Known is
// false, and there is no interval, with fewer than stats.LeastBlocks jobs.
type Mean struct {
	Mean, Low, High float64
	Known           bool
}

// String writes the mean and its interval, in whole seconds.
func (m Mean) String() string {
	if !m.Known {
		return fmt.Sprintf("%.0f", m.Mean)
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f]", m.Mean, m.Low, m.High)
}

// MeanOf returns the mean of values. The same values have the same interval.
func MeanOf(values []float64) Mean {
	blocks := make([]stats.Ratio, len(values))
	var all stats.Ratio
	for i, v := range values {
		blocks[i] = stats.Ratio{Sum: v, Of: 1}
		all.Sum += v
		all.Of++
	}
	m := Mean{Mean: all.Value()}
	m.Low, m.High, m.Known = stats.RatioInterval(blocks, .95, rand.New(rand.NewPCG(95, 0)))
	return m
}

// Used returns the node-seconds that the starts of a user's jobs took.
func Used(all []Outcome, user string) float64 {
	sum := 0.0
	for i := range all {
		if all[i].User != user {
			continue
		}
		for _, s := range all[i].Starts {
			sum += float64(s.Nodes) * max(0, s.End-s.Began)
		}
	}
	return sum
}
