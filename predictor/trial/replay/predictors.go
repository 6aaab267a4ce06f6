package replay

import (
	"math"

	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

// Even is a Predictor for which all nodes fail at the same constant rate: the failures so far over the time
// so far.
type Even struct {
	nodes    float64
	start    int64
	failures float64
}

// NewEven returns the Predictor for a Log.
func NewEven(l Log) *Even { return &Even{nodes: float64(l.Nodes), start: l.Start} }

// Fail implements Predictor.
func (e *Even) Fail(int64, int) { e.failures++ }

// Hazard implements Predictor.
func (e *Even) Hazard(at int64, nodes []int) checkpoint.Hazard {
	return checkpoint.Constant(e.failures / e.nodes / float64(max(1, at-e.start)) * float64(len(nodes)))
}

// PerNode is a Predictor for which each node has a rate of its own, which changes slowly. It has a
// gamma-Poisson model for each of some half-lives of what was seen, and believes the one under which the
// failures so far were most probable, each as forecast before it happened.
type PerNode struct {
	models []*discounted
}

// halfLives are those of PerNode's models, in days. The last forgets nothing.
var halfLives = []float64{15, 30, 60, 120, 240, math.Inf(1)}

// NewPerNode returns the Predictor for a Log.
func NewPerNode(l Log) *PerNode {
	p := &PerNode{}
	for _, days := range halfLives {
		p.models = append(p.models, &discounted{
			decay: math.Ln2 / (days * 24 * 3600), start: l.Start, at: l.Start, fitted: l.Start,
			of: make([]float64, l.Nodes), shape: 1,
		})
	}
	return p
}

// Fail implements Predictor.
func (p *PerNode) Fail(at int64, node int) {
	for _, m := range p.models {
		m.fail(at, node)
	}
}

// Hazard implements Predictor.
func (p *PerNode) Hazard(at int64, nodes []int) checkpoint.Hazard {
	best := p.models[0]
	for _, m := range p.models[1:] {
		if m.score > best.score {
			best = m
		}
	}
	return checkpoint.Constant(best.rate(at, nodes))
}

// discounted is a gamma-Poisson model. The rates of all nodes have a gamma distribution, and a node's number
// of failures a Poisson distribution about its rate; so the rate is expected to be
// (shape + failures) / (shape/mean + time), between the node's own and the mean. Failures and time count the
// less the longer they are past. The shape, how alike the nodes are, is the one of greatest likelihood
// when it was last fitted, once a week.
type discounted struct {
	decay     float64 // per second
	start, at int64   // of the log, and of the last failure
	fitted    int64
	of        []float64 // failures of each node, as they count at the last failure
	all       float64   // the sum of of
	shape     float64
	score     float64 // log likelihood of the failures so far
}

// time returns the seconds since the start, as they count.
func (d *discounted) time(at int64) float64 {
	seconds := float64(max(1, at-d.start))
	if d.decay == 0 {
		return seconds
	}
	return -math.Expm1(-d.decay*seconds) / d.decay
}

// rate returns the expected failures per second of the nodes together.
func (d *discounted) rate(at int64, nodes []int) float64 {
	failures := 0.
	for _, node := range nodes {
		failures += d.of[node]
	}
	return d.rateOf(at, float64(len(nodes)), failures)
}

// rateOf returns the same for so many nodes with so many failures.
func (d *discounted) rateOf(at int64, nodes, failures float64) float64 {
	if d.all == 0 {
		return 0
	}
	kept := math.Exp(-d.decay * float64(at-d.at))
	time := d.time(at)
	mean := d.all * kept / float64(len(d.of)) / time
	return (d.shape*nodes + failures*kept) / (d.shape/mean + time)
}

func (d *discounted) fail(at int64, node int) {
	if d.all > 0 {
		each := d.rateOf(at, 1, d.of[node])
		all := d.rateOf(d.at, float64(len(d.of)), d.all)
		d.score += math.Log(each) - all*float64(at-d.at)
	}
	kept := math.Exp(-d.decay * float64(at-d.at))
	for i := range d.of {
		d.of[i] *= kept
	}
	d.all = d.all*kept + 1
	d.of[node]++
	d.at = at
	if at-d.fitted >= 7*24*3600 {
		d.fitted, d.shape = at, d.fit()
	}
}

// fit returns the shape with the greatest likelihood, of some between .01 (a few nodes have nearly all
// failures) and 100 (all are alike).
func (d *discounted) fit() float64 {
	best, greatest := 1., math.Inf(-1)
	for step := range 21 {
		shape := math.Pow(10, -2+float64(step)/5)
		if likelihood := d.likelihood(shape); likelihood > greatest {
			best, greatest = shape, likelihood
		}
	}
	return best
}

// likelihood returns the logarithm of the probability of the nodes' numbers of failures, but for what does
// not depend on the shape: they have negative binomial distributions.
func (d *discounted) likelihood(shape float64) float64 {
	expected := d.all / float64(len(d.of)) // failures of a node
	base, _ := math.Lgamma(shape)
	without := shape * math.Log1p(expected/shape)
	more, sum := math.Log(shape+expected), 0.
	for _, n := range d.of {
		sum -= without
		if n > 0 {
			of, _ := math.Lgamma(shape + n)
			sum += of - base - n*more
		}
	}
	return sum
}
