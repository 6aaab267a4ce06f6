// Package moldable chooses the number of nodes of a job that can run on several numbers of nodes.
// It compares the forecasts of the job's wait for each number (Downey, "Using Queue Time
// Predictions for Processor Allocation", 1997). With more nodes the job waits longer and runs
// faster.
package moldable

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// Option is one size at which a job can run. Times are seconds from now on.
type Option struct {
	Nodes int32
	// Wait is the expected wait, Q(n), by Wait or a point forecast. It is +Inf where too little is
	// known.
	Wait float64
	Run  float64 // the expected run time, R(n)
	Cost float64 // what it costs, in any unit that all Options share
	Prob float64 // the probability of what Highest looks for
}

// Turnaround returns the expected time from now until the job ends, Q(n) + R(n).
func (o *Option) Turnaround() float64 { return o.Wait + o.Run }

// Criterion is what makes an Option the best.
type Criterion string

// The criteria. Where Options are equal by one, the lesser Turnaround decides, and then the fewer
// nodes.
const (
	Least    Criterion = "turnaround" // the least expected Turnaround
	Cheapest Criterion = "cost"       // the least Cost
	Highest  Criterion = "prob"       // the highest Prob
)

// Criteria are all values of Criterion.
var Criteria = []Criterion{Least, Cheapest, Highest}

// Rules say how to choose. The zero Rules choose by Least, at any risk, and anew whenever asked.
type Rules struct {
	By Criterion // Least if empty
	// Aversion is how much a longer wait must be expected to gain, as a fraction of the run time of
	// the job if it does not wait for it: .2 in the paper's section 6.1. It concerns Least only.
	Aversion float64
	// LockIn says that a size once chosen stays (section 6.1).
	LockIn bool
}

// together is how many seconds apart two jobs may be expected to start, and still be said to start
// together: as often as Slurm looks for jobs to start unless configured otherwise.
const together = 60

// Choose returns the index of the best Option. An Option with an unknown Wait is the last resort.
// Choose reports false if there is none. It costs O(n).
//
// Invariant: no Option is better by the criterion, unless Aversion forbids it. Then Choose returns
// the best by Least of those that start together with the one that starts first.
func (r Rules) Choose(options []Option) (best int, ok bool) {
	if len(options) == 0 {
		return 0, false
	}
	all := func(*Option) bool { return true }
	best = r.best(options, all)
	if r.Aversion <= 0 || r.By != Least && r.By != "" {
		return best, true
	}
	first := math.Inf(1)
	for i := range options {
		first = min(first, options[i].Wait)
	}
	safe := r.best(options, func(o *Option) bool { return o.Wait <= first+together })
	if gain := options[safe].Turnaround() - options[best].Turnaround(); gain > r.Aversion*options[safe].Run {
		return best, true
	}
	return safe, true
}

// Reconsider returns the index of the Option at which a job had better wait from now on, of which
// held is the index of the one at which it waits.
func (r Rules) Reconsider(held int, options []Option) int {
	if r.LockIn {
		return held
	}
	best, _ := r.Choose(options)
	return best
}

// best returns the index of the best Option of those that are eligible, of which there is one at
// least.
func (r Rules) best(options []Option, eligible func(*Option) bool) int {
	best := -1
	for i := range options {
		if eligible(&options[i]) && (best < 0 || r.better(&options[i], &options[best])) {
			best = i
		}
	}
	return best
}

// better reports whether a is better than b.
func (r Rules) better(a, b *Option) bool {
	if unknown := math.IsInf(a.Wait, 1); unknown != math.IsInf(b.Wait, 1) {
		return !unknown
	}
	switch {
	case r.By == Cheapest && a.Cost != b.Cost:
		return a.Cost < b.Cost
	case r.By == Highest && a.Prob != b.Prob:
		return a.Prob > b.Prob
	}
	// less than a second decides nothing
	if mine, its := math.Round(a.Turnaround()), math.Round(b.Turnaround()); mine != its {
		return mine < its
	}
	return a.Nodes < b.Nodes
}

// tail is the part of a forecast that Wait does not believe to the second.
const tail = .05

// Quantiles returns those of a wait from which delay.Through makes a distribution that is exact
// enough for Wait, Ends and what is shown of it: every second percentile, with the .95 from which
// Wait winsorises, and the .99.
func Quantiles() []float64 {
	var all []float64
	for percent := 2; percent <= 98; percent += 2 {
		if all = append(all, float64(percent)/100); percent == 94 {
			all = append(all, 1-tail)
		}
	}
	return append(all, .99)
}

// Wait returns the expected wait of a forecast in seconds, in which waits above the .95 quantile
// count as that quantile (a winsorised mean): the last twentieth rests on few past waits, and may
// have no end. It is thus a little less than the mean proper. It is +Inf if that quantile is beyond
// the grid of delays.
func Wait(d *delay.Distribution) float64 {
	most := d.Quantile(1 - tail)
	if math.IsInf(most, 1) {
		return most
	}
	return most - d.Held(most)
}

// Ends returns the probability that a job ends within a number of seconds, if its wait is forecast
// by d, and its run takes one of times, in seconds, each equally likely whatever the wait is.
func Ends(d *delay.Distribution, times []float64, within float64) float64 {
	sum := 0.
	for _, t := range times {
		sum += d.Within(within - t)
	}
	return sum / float64(len(times))
}
