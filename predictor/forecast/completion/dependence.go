package completion

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// dependence measures the correlation of waits and run times beyond what their forecasts know. It
// is the correlation of the normal scores of their ranks under these forecasts (a Gaussian copula).
// The fields are fading sums over jobs: of the scores, their squares and their products.
type dependence struct{ n, wait, run, waits, runs, products float64 }

const (
	memory    = 2000. // jobs, mean age
	believe   = 200.  // jobs without correlation, assumed to have been seen at the beginning
	farthest  = 3.    // the largest absolute normal score
	strongest = .9
	parts     = 64 // quantiles of the run time that are added to the wait
	weakest   = .01
)

// learn takes in the ranks of a job's wait and run time.
func (d *dependence) learn(wait, run float64) {
	const keep = 1 - 1/memory
	w, r := score(wait), score(run)
	d.n = keep*d.n + 1
	d.wait, d.run = keep*d.wait+w, keep*d.run+r
	d.waits, d.runs, d.products = keep*d.waits+w*w, keep*d.runs+r*r, keep*d.products+w*r
}

func score(rank float64) float64 {
	return max(-farthest, min(stats.NormalQuantile(max(1e-9, min(rank, 1-1e-9))), farthest))
}

func (d *dependence) correlation() float64 {
	n := max(d.n, 1)
	wait, run := d.wait/n, d.run/n
	spread := math.Sqrt(max(0, d.waits/n-wait*wait) * max(0, d.runs/n-run*run))
	if spread == 0 {
		return 0
	}
	c := (d.products/n - wait*run) / spread * d.n / (d.n + believe)
	return max(-strongest, min(c, strongest))
}

// sum sets total to the distribution of the sum of a wait and a run time. With n quantiles of the
// run time it takes O(n delay.Points).
func (d *dependence) sum(wait *delay.Distribution, run *walltime.Distribution, total *delay.Distribution) {
	correlation := d.correlation()
	if math.Abs(correlation) < weakest {
		correlation = 0
	}
	var scores [delay.Points]float64
	if correlation != 0 {
		for i, p := range wait {
			scores[i] = stats.NormalQuantile(max(1e-12, min(p, 1-1e-12)))
		}
	}
	*total = delay.Distribution{}
	given := *wait
	rest := math.Sqrt(1 - correlation*correlation)
	for i := range parts {
		level := (float64(i) + .5) / parts
		if correlation != 0 {
			shift := correlation * stats.NormalQuantile(level)
			for k, s := range scores {
				if k > 0 && s == scores[k-1] { // as where the wait is certain to be over
					given[k] = given[k-1]
				} else {
					given[k] = stats.NormalCDF((s - shift) / rest)
				}
			}
		}
		seconds := float64(run.Quantile(level))
		for k := delay.Index(seconds); k < delay.Points; k++ {
			total[k] += given.Within(delay.At(k)-seconds) / parts
		}
	}
	for k := range total { // sums of many numbers are not exact
		total[k] = min(1, total[k])
		if k > 0 {
			total[k] = max(total[k], total[k-1])
		}
	}
}
