package sizing

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/promise/moldable"
)

// Asked is the Chooser that does as the users asked.
type Asked struct{}

// Choose implements Chooser.
func (Asked) Choose(_ *Cluster, j *Job) int32 { return j.Asked.Procs }

// Free is the Chooser AVG: each job takes what is free when it can start, up to its Most (Downey
// 1997, section 5.1).
type Free struct{}

// Choose implements Chooser.
func (Free) Choose(*Cluster, *Job) int32 { return 0 }

// Waits predicts the wait of a job that is submitted now on some processors, in seconds. It is +Inf
// if nothing is known.
type Waits func(c *Cluster, j *Job, procs int32) float64

// Predicting is the Chooser that goes by predicted waits and the true run times: as in the paper,
// jobs know how long they run. While no wait is known it does as the users asked.
type Predicting struct {
	moldable.Rules
	Waits Waits
	// Again is how many seconds after a choice a job that still waits chooses anew, unless it is
	// locked in: 0 for never.
	Again int64
}

// Choose implements Chooser.
func (p *Predicting) Choose(c *Cluster, j *Job) int32 {
	options, known := p.options(c, j, j.candidates(c.free))
	if !known {
		return j.Asked.Procs
	}
	best, _ := p.Rules.Choose(options)
	return options[best].Nodes
}

// options returns what j can choose among, and whether any wait is known.
func (p *Predicting) options(c *Cluster, j *Job, sizes []int32) (options []moldable.Option, known bool) {
	for _, n := range sizes {
		o := moldable.Option{Nodes: n, Wait: p.Waits(c, j, n), Run: float64(j.At(n).Run)}
		known = known || !math.IsInf(o.Wait, 1)
		options = append(options, o)
	}
	return options, known
}

// Every implements Reconsiderer.
func (p *Predicting) Every() int64 {
	if p.LockIn {
		return 0
	}
	return p.Again
}

// Reconsider implements Reconsiderer.
func (p *Predicting) Reconsider(c *Cluster, j *Job, held int32) int32 {
	sizes := j.candidates(c.free)
	at, found := slices.BinarySearch(sizes, held)
	if !found {
		sizes = slices.Insert(sizes, at, held)
	}
	options, known := p.options(c, j, sizes)
	if !known {
		return held
	}
	return options[p.Rules.Reconsider(at, options)].Nodes
}

// True returns the waits that come, by an Oracle.
func True() Waits {
	var o Oracle
	return func(c *Cluster, j *Job, procs int32) float64 { return float64(o.Wait(c, j, procs)) }
}

// Predictor returns the waits that predictors A and B foresee, as package expert extends them to
// whole queues, with or without the correction of their bias.
func Predictor(d *expert.Downey, corrected bool) Waits {
	return func(c *Cluster, j *Job, procs int32) float64 {
		q := c.question(j, procs)
		raw, better, ok := d.Predict(&q)
		switch {
		case !ok:
			return math.Inf(1)
		case corrected:
			return better
		}
		return raw
	}
}

// Expected returns the expected waits of a forecaster: see moldable.Wait.
func Expected(f forecast.Forecaster) Waits {
	var a forecast.Answer
	return func(c *Cluster, j *Job, procs int32) float64 {
		q := c.question(j, procs)
		if !f.Forecast(&q, &a) {
			return math.Inf(1)
		}
		return moldable.Wait(&a.Wait)
	}
}

// question asks how long j waits if it is submitted now on some processors.
func (c *Cluster) question(j *Job, procs int32) forecast.Question {
	return forecast.Question{Request: j.request(j.At(procs)), Now: c.now, Submit: c.now, Job: j.ID}
}
