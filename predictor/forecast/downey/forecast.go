package downey

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/stats"
)

// Running is a job that holds processors.
type Running struct {
	Procs     int32
	Age       float64          // for how many seconds it has run
	Lifetimes stats.LogUniform // what its run time is drawn from
}

// Forecast predicts how long the job at the head of a queue waits until n
// processors are free, from the sizes and ages of the running jobs alone: run
// times are taken to be independent and log-uniform (section 3).
//
// A job older than its longest lifetime is not counted on: nothing is known of its
// end.
//
// One Forecast serves any number of states, one after the other.
type Forecast struct {
	free int32
	jobs []running
	// What was asked last: whoever asks for n after n finds the next answer near.
	benefactors int
	median      float64
	target      float64
	mean        float64
}

// running is a job with what equation 5 needs of it.
type running struct {
	procs       int32
	age         float64
	least, most float64 // the shortest and the longest lifetime
	left        float64 // ln(most/age), or of the shortest lifetime while it is younger
}

// Look takes in the state of a machine: how many processors are free, and what runs
// on the others. It costs O(p log p) for p jobs.
func (f *Forecast) Look(free int32, jobs []Running) {
	f.free, f.jobs = free, f.jobs[:0]
	for _, j := range jobs {
		if least, most := j.Lifetimes.Min, j.Lifetimes.Max; j.Age < most {
			f.jobs = append(f.jobs, running{j.Procs, j.Age, least, most, math.Log(most / max(j.Age, least))})
		}
	}
	slices.SortFunc(f.jobs, func(a, b running) int {
		if c := cmp.Compare(b.procs, a.procs); c != 0 {
			return c
		}
		return cmp.Compare(a.age, b.age)
	})
	f.benefactors, f.median, f.target, f.mean = 0, 0, 0, 0
}

// Wait predicts how many seconds from now n processors are free: the median where
// two running jobs or more would do alone, each by its end, and else the mean
// (section 3.3). It is 0 when they are free already, and +Inf when they cannot be
// counted on. It costs O(p) for each of a few steps of Newton's method.
func (f *Forecast) Wait(n int32) float64 {
	if len(f.jobs) >= 2 && f.jobs[1].procs >= n-f.free {
		return f.Median(n)
	}
	return f.Mean(n)
}

// rising returns up to which size, from n on, a larger one has no shorter wait.
func (f *Forecast) rising(n int32) int32 {
	if len(f.jobs) >= 2 && n <= f.free+f.jobs[1].procs {
		return f.free + f.jobs[1].procs // the median's last
	}
	return math.MaxInt32 - 1
}

// Median is predictor A: the time at which the jobs that would do alone are with
// probability 1/2 all still running (equation 9). It is +Inf without such a job.
// Smaller jobs that would do together are left out, and so it is never less than
// the median proper.
func (f *Forecast) Median(n int32) float64 {
	need := n - f.free
	if need <= 0 {
		return 0
	}
	count := sort.Search(len(f.jobs), func(i int) bool { return f.jobs[i].procs < need })
	switch {
	case count == 0:
		return math.Inf(1)
	case count == f.benefactors:
		return f.median
	case count > f.benefactors:
		f.median = 0
	}
	benefactors := f.jobs[:count]
	first := math.Inf(1) // when one has ended for certain
	for _, j := range benefactors {
		first = min(first, j.most-j.age)
	}
	f.median = root(f.median, first, func(q float64) (float64, float64) {
		none, hazard := 1., 0.
		for _, j := range benefactors {
			still, rate := j.still(q)
			none *= still
			hazard += rate / still
		}
		return -math.Ln2 - math.Log(none), hazard
	})
	f.benefactors = count
	return f.median
}

// Mean is predictor B: the time at which the processors that are expected to be
// given back make up what is missing (equation 10). It is +Inf when all that can
// be counted on are too few.
func (f *Forecast) Mean(n int32) float64 {
	need := float64(n - f.free)
	if need <= 0 {
		return 0
	}
	last, total := 0., 0. // last: when all have ended for certain
	for _, j := range f.jobs {
		last = max(last, j.most-j.age)
		total += float64(j.procs)
	}
	if total < need {
		return math.Inf(1)
	}
	if need < f.target {
		f.mean = 0
	}
	f.mean = root(f.mean, last, func(q float64) (float64, float64) {
		freed, rate := 0., 0.
		for _, j := range f.jobs {
			still, r := j.still(q)
			freed += float64(j.procs) * (1 - still)
			rate += float64(j.procs) * r
		}
		return freed - need, rate
	})
	f.target = need
	return f.mean
}

// still returns the probability that the job runs for another q seconds, and at
// which rate it falls: equation 5 with the total lifetime t = age + q.
func (j *running) still(q float64) (probability, rate float64) {
	t := j.age + q
	switch {
	case t < j.least:
		return 1, 0
	case t >= j.most:
		return 0, 0
	}
	return math.Log(j.most/t) / j.left, 1 / (t * j.left)
}

// root returns where f, which never falls and is known with its slope, crosses 0
// between low and high: Newton's method, and bisection where that leads astray.
func root(low, high float64, f func(float64) (value, slope float64)) float64 {
	const precision = 1e-7
	q := low
	for range 100 {
		value, slope := f(q)
		if value < 0 {
			low = q
		} else {
			high = q
		}
		next := q - value/slope
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		step := math.Abs(next - q)
		q = next
		if step <= precision*(1+q) {
			break
		}
	}
	return max(q, 0)
}
