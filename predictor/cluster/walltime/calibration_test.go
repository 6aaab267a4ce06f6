package walltime

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// live feeds the events of jobs to the predictor in the order of time. It calls look for each
// job when it is submitted, and when it reaches one of the ages.
func live(jobs []sched.Job, p *Predictor, ages []int64, look func(j *sched.Job, age int64)) {
	type event struct {
		time int64
		kind int // of events at the same time, ends come first
		job  *sched.Job
		age  int64
	}
	const (
		ends = iota
		submitted
		starts
		looked
	)
	var events []event
	for i := range jobs {
		j := &jobs[i]
		events = append(events, event{j.End, ends, j, 0}, event{j.Submit, submitted, j, 0}, event{j.Start, starts, j, 0})
		for _, age := range ages {
			if age > 0 && j.Start+age < j.End {
				events = append(events, event{j.Start + age, looked, j, age})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.kind, b.kind)) })
	for _, e := range events {
		switch e.kind {
		case ends:
			p.Learn(e.job)
		case submitted:
			look(e.job, 0)
			p.Submitted(e.job)
		case starts:
			p.Started(e.job)
		case looked:
			look(e.job, e.age)
		}
	}
}

// ages are the ages at which distributions are tested, in seconds. Only 0 is a milestone.
var ages = [...]int64{0, 600, 3600, 4 * 3600}

// probabilities are the levels of the quantiles that are tested.
var probabilities = [...]float64{.1, .25, .5, .75, .9}

// calibration counts how often run times fall below quantiles.
type calibration struct {
	n     float64
	short [len(probabilities)]float64
}

// add adds the distribution of a job and its run time. A run time equal to a quantile counts
// by the mean of its randomised rank.
func (c *calibration) add(d *Distribution, run int64) {
	c.n++
	below, within := d.Below(run), d.Within(run)
	for i, q := range probabilities {
		switch {
		case within <= q:
			c.short[i]++
		case below < q:
			c.short[i] += (q - below) / (within - below)
		}
	}
}

// shares returns how often run times fell below each quantile.
func (c *calibration) shares() (shares [len(probabilities)]float64) {
	for i := range shares {
		shares[i] = c.short[i] / c.n
	}
	return shares
}

// off returns the largest error of the shares.
func (c *calibration) off() float64 {
	worst := 0.
	for i, share := range c.shares() {
		worst = max(worst, math.Abs(share-probabilities[i]))
	}
	return worst
}

// says returns a distribution for a job of an age.
type says func(p *Predictor, j *sched.Job, age int64) Distribution

// calibrations replays jobs, and returns a calibration for each age. The first tenth of the
// jobs does not count.
func calibrations(jobs []sched.Job, say says) (all [len(ages)]calibration) {
	var p Predictor
	seen := 0
	live(jobs, &p, ages[:], func(j *sched.Job, age int64) {
		if age == 0 {
			seen++
		}
		if seen > len(jobs)/10 {
			d := say(&p, j, age)
			// Logs have jobs that ran a little longer than their limits.
			all[slices.Index(ages[:], age)].add(&d, min(max(1, j.End-j.Start), max(j.Limit, age)))
		}
	})
	return all
}

// TestCalibration: run times fall below quantiles as often as their levels say, for waiting
// jobs and for jobs that have run for hours. On whole logs the error is at most .02, and up
// to .24 without recalibration (BenchmarkCalibration). The error is larger for the first
// jobs of a log at ages that few jobs reach. Most of those jobs are from a few users, who
// submitted hundreds of jobs at once.
func TestCalibration(t *testing.T) {
	for _, name := range logs {
		t.Run(name, func(t *testing.T) {
			all := calibrations(lived(t, name, 20_000), (*Predictor).Distribution)
			for i, age := range ages {
				c := &all[i]
				t.Logf("age %5d, %5.0f jobs: %.3f fall short of the quantiles %v", age, c.n, c.shares(), probabilities)
				allowed := .025
				if c.n < 10_000 {
					allowed = .05
				}
				if c.off() > allowed {
					t.Errorf("age %d: off by %.3f", age, c.off())
				}
			}
		})
	}
}

// BenchmarkCalibration replays whole logs. It reports by how much the worst quantile
// misses its probability.
func BenchmarkCalibration(b *testing.B) {
	for _, name := range logs {
		b.Run(name, func(b *testing.B) {
			jobs := lived(b, name, math.MaxInt)
			var ours [len(ages)]calibration
			for b.Loop() {
				ours = calibrations(jobs, (*Predictor).Distribution)
			}
			past := calibrations(jobs, (*Predictor).past)
			for i, unit := range [...]string{"0", "10min", "1h", "4h"} {
				b.ReportMetric(past[i].off(), "past-off-"+unit)
				b.ReportMetric(ours[i].off(), "off-"+unit)
			}
		})
	}
}

// TestCalibrationKeepsUp: the quantiles follow a stream whose jobs double their run times,
// and are then killed one time in three.
func TestCalibrationKeepsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	jobs := make([]sched.Job, 40_000)
	for i := range jobs {
		j := of(r.Int32N(50))
		j.ID, j.Submit = int64(i), int64(100*i)
		j.Start = j.Submit + r.Int64N(300)
		scale := 400.
		if i > len(jobs)/3 {
			scale *= 2
		}
		run := int64(scale * r.ExpFloat64())
		if i > len(jobs)*2/3 && r.IntN(3) == 0 {
			run = j.Limit
		}
		j.End = j.Start + min(run, j.Limit)
		jobs[i] = *j
	}
	ours := calibrations(jobs, (*Predictor).Distribution)
	for i, age := range ages {
		if ours[i].n > 1000 && ours[i].off() > .02 {
			t.Errorf("age %d: %.3f before the quantiles %v", age, ours[i].shares(), probabilities)
		}
	}
}
