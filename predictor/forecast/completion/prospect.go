package completion

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
)

// Circumstances are what a forecast of one job's end rests on, besides the question.
type Circumstances struct {
	// FailureRate is the expected number of failures of the job's nodes per second of its run.
	FailureRate float64
	// Checkpoints is the time between the job's checkpoints, in seconds of its run; 0 for none.
	Checkpoints int64
	// Tasks is how many tasks of an array are to end, 0 for a single job, and Rounds how many times
	// as many tasks as run at once have to run until all have, 0 if they all run at once. The wait is
	// that of a round.
	Tasks, Rounds int32
}

// roundsOf returns the number of rounds, at least 1.
func (c *Circumstances) roundsOf() float64 { return float64(max(1, c.Rounds)) }

// Prospect forecasts when one job will have ended, as far as the end may be promised. The zero
// Prospect is for a job that never ends.
//
// A job that is stopped at its time limit has not done its work, and a promise about its end is
// then void. So the probabilities are conditional: the job is not stopped at its limit.
//
// Of an array all tasks are to end, and a task that is stopped at its limit has ended, too. The
// longest of their runs is forecast as if they did not depend on one another. If not all run at
// once, each round of them waits and runs as the first may, one after another. Nobody knows how
// much the rounds depend on one another. So the probability is the lower one of two: that all
// rounds take equally long, and that they do not depend on one another.
type Prospect struct {
	rounds  rounds
	stopped float64            // the probability that a task of an array is stopped at its limit
	end     delay.Distribution // lower bounds on the probability that the job has ended
	timeOut delay.Distribution // the probability that the time limit has ended the job
	lost    delay.Distribution // by how much failures lower the probability that the job has ended
}

// Prob returns the probability that the job has done its work within a number of seconds from the
// question's Submit.
func (p *Prospect) Prob(seconds float64) float64 {
	if p.rounds.n > 1 {
		return min(p.once(seconds/p.rounds.n), p.rounds.prob(seconds))
	}
	return p.once(seconds)
}

// once is Prob of one round.
func (p *Prospect) once(seconds float64) float64 {
	timeOut := p.timeOut.Within(seconds)
	if timeOut >= 1 {
		return 0
	}
	return max(0, (p.end.Within(seconds)-p.lost.Within(seconds)-timeOut)/(1-timeOut))
}

// Within returns the least number of seconds, a multiple of step, within which the job has done its
// work with the probability prob. It reports false if there is none.
func (p *Prospect) Within(prob float64, step int64) (seconds int64, ok bool) {
	at := func(i int) float64 { return delay.At(i) * max(1, p.rounds.n) }
	for i := range delay.Points {
		if p.Prob(at(i)) < prob {
			continue
		}
		low, high := int64(0), int64(math.Ceil(at(i)/float64(step)))
		if i > 0 {
			low = int64(at(i-1) / float64(step))
		}
		for n := low; n <= high; n++ {
			if p.Prob(float64(n*step)) >= prob {
				return n * step, true
			}
		}
	}
	return 0, false
}

// TimeOut returns the probability that the job, or a task, is stopped at its time limit.
func (p *Prospect) TimeOut() float64 { return max(p.stopped, p.timeOut[delay.Points-1]) }

// Lost returns by how much failures of nodes lower the probability that the job has done its work
// within a number of seconds.
func (p *Prospect) Lost(seconds float64) float64 { return p.lost.Within(seconds / max(1, p.rounds.n)) }

// Wait forecasts the rest of the wait of a job that has waited for some seconds at the question's
// Submit. It reports false if there is no forecast; a.Down may then say why.
func (f *Forecaster) Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool {
	asked := *q
	if waited > 0 {
		asked.Since = q.Now - waited
	}
	return f.waits.Forecast(&asked, a)
}

// Prospect forecasts the end of a job that waits or will wait, from the forecast of its wait. wait
// is the result of the method Wait. The caller may have adjusted it for what the Forecaster does
// not know, or to promise no more of it than is promised of a start.
//
// The recalibration corrects the sum of wait and run time, and may raise a probability. But no end
// within some seconds is more probable than a start, which is a bound also where wait is careful.
// What lowers a probability comes after that: failures, and ends by the time limit.
//
// It takes O(parts^2 delay.Points) if nodes may fail.
func (f *Forecaster) Prospect(q *forecast.Question, c Circumstances, wait *delay.Distribution) (p Prospect) {
	run := f.runs.RunTime(q)
	limit := max(q.Limit, 1)
	atLimit := 1 - run.Below(limit)
	if c.Tasks > 0 {
		run = run.Longest(c.Tasks)
		p.stopped, atLimit = atLimit, 0
		c.FailureRate *= c.roundsOf()
	}
	a := forecast.Answer{Wait: *wait}
	f.join(&record{}, &a, &run)
	for i := range p.end {
		p.end[i] = min(a.Lower[i], wait[i])
	}
	p.lost = lost(wait, &run, c)
	for i := range p.timeOut {
		p.timeOut[i] = atLimit * wait.Within(delay.At(i)-float64(limit))
	}
	p.rounds = roundsLike(&p, c.roundsOf())
	return p
}

// Rest forecasts how much longer a job will run that has run for age seconds. It is like Prospect
// without a wait, under the condition that the job has not ended yet. A failure counts as if the
// job never ended, because the wait after a failure is not known. Of an array's Tasks, all of which
// run, the one that has run for the shortest time has run for age seconds.
func (f *Forecaster) Rest(q *forecast.Question, age int64, c Circumstances) (p Prospect) {
	run := f.runs.RunTime(q)
	limit := max(q.Limit, 1)
	before := run.Within(age)
	if before >= 1 { // it is being stopped
		for i := range p.end {
			p.end[i], p.timeOut[i] = 1, 1
		}
		if c.Tasks > 0 {
			p.timeOut, p.stopped = delay.Distribution{}, 1
		}
		return p
	}
	var ends forecast.Answer
	for i := range ends.Wait {
		ends.Wait[i] = 1
	}
	f.join(&record{}, &ends, &run)
	ended := ends.Lower.Within(float64(age))
	for i := range p.end {
		seconds := delay.At(i)
		if ended < 1 {
			p.end[i] = (ends.Lower.Within(float64(age)+seconds) - ended) / (1 - ended)
		}
		stopped := 0.
		if age+int64(seconds) >= limit {
			stopped = (1 - max(before, run.Below(limit))) / (1 - before)
		}
		if c.Tasks == 0 {
			p.timeOut[i] = stopped
		} else {
			p.stopped, p.end[i] = max(p.stopped, stopped), math.Pow(p.end[i], float64(c.Tasks))
		}
		p.lost[i] = p.end[i] * -math.Expm1(-c.FailureRate*min(seconds, float64(max(0, limit-age))))
	}
	return p
}

// Run returns the quantiles, in seconds, of how much longer a job runs that has run for age
// seconds, until it ends in whatever way: its time limit is the longest. Of an array it is the
// longest of so many Tasks that run together, in so many rounds, each of which takes as long.
func (f *Forecaster) Run(q *forecast.Question, age int64, c Circumstances) func(prob float64) float64 {
	run, limit := f.runs.RunTime(q), max(q.Limit, 1)
	if c.Tasks > 0 {
		run = run.Longest(c.Tasks)
	}
	before := run.Within(age)
	return func(prob float64) float64 {
		took := min(run.Quantile(before+prob*(1-before)), limit)
		return float64(max(0, took-age)) * c.roundsOf()
	}
}

// starts is how many times of a failure within a run are considered.
const starts = 4

// lost returns by how much failures lower the probability that a job has ended. After a failure the
// job waits once more, and repeats its work since the last checkpoint. After a second failure the
// job never ends.
func lost(wait *delay.Distribution, run *walltime.Distribution, c Circumstances) (less delay.Distribution) {
	if c.FailureRate <= 0 {
		return less
	}
	var twice delay.Distribution // two waits, one after the other
	for i := range parts {
		seconds := wait.Quantile((float64(i) + .5) / parts)
		for k := delay.Index(seconds); k < delay.Points; k++ {
			twice[k] += wait.Within(delay.At(k)-seconds) / parts
		}
	}
	for i := range parts {
		seconds := float64(run.Quantile((float64(i) + .5) / parts))
		failed := -math.Expm1(-c.FailureRate * seconds)
		repeated := seconds
		if c.Checkpoints > 0 {
			repeated = min(seconds, float64(c.Checkpoints))
		}
		for k := delay.Index(seconds); k < delay.Points; k++ {
			left := delay.At(k) - seconds
			again := 0.
			for n := range starts {
				again += twice.Within(left-repeated*(float64(n)+.5)/starts) / starts
			}
			less[k] += failed / parts * (wait.Within(left) - (1-failed)*again)
		}
	}
	return less
}
