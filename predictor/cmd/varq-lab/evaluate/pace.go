package evaluate

import (
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/trial/backtest"
)

// pace knows how much of the time has passed in which several methods, some at a time, live through
// a log. A method takes about its Cost for each job. Its methods may be called concurrently.
type pace struct {
	workers int
	mu      sync.Mutex
	left    []float64 // cost of each method's jobs that are left, in parts of a whole log
	whole   float64   // rest at the beginning
}

func newPace(makers []backtest.Maker, workers int) *pace {
	p := &pace{workers: workers, left: make([]float64, len(makers))}
	for i, m := range makers {
		p.left[i] = m.Cost
	}
	p.whole = p.rest()
	return p
}

// rest returns how long the methods go on: no less than each by itself, nor than all take the
// workers.
func (p *pace) rest() float64 {
	sum := 0.
	for _, cost := range p.left {
		sum += cost
	}
	return max(slices.Max(p.left), sum/float64(p.workers))
}

// done notes that a method has lived through a part, from 0 to 1, of the log, and returns the part
// of the time that has passed.
func (p *pace) done(method int, cost, part float64) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[method] = cost * (1 - part)
	return 1 - p.rest()/p.whole
}
