package desk

import (
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/promise/negotiate"
)

// pausing is the Prospect of something that takes so long that it may go on after windows in which
// no job of a time limit runs. From the limit before a window on nothing starts, until its end.
type pausing struct {
	negotiate.Prospect
	windows    []limits.Window
	now, limit int64
}

// without returns how many of the seconds from now on are outside of the pauses.
func (p pausing) without(seconds float64) float64 {
	until, over := p.now+int64(seconds), p.now
	for _, w := range p.windows {
		from, to := max(over, w.Start-p.limit), min(until, w.End)
		if from < to {
			seconds, over = seconds-float64(to-from), to
		}
	}
	return max(0, seconds)
}

// Prob implements negotiate.Prospect.
func (p pausing) Prob(seconds float64) float64 { return p.Prospect.Prob(p.without(seconds)) }

// Within implements negotiate.Prospect.
func (p pausing) Within(prob float64, step int64) (int64, bool) {
	needed, ok := p.Prospect.Within(prob, 1)
	if !ok {
		return 0, false
	}
	seconds, over := needed, p.now
	for _, w := range p.windows {
		from := max(over, w.Start-p.limit)
		if from >= p.now+seconds {
			break
		}
		if from < w.End {
			seconds, over = seconds+w.End-from, w.End
		}
	}
	return (seconds + step - 1) / step * step, true
}

// following is the Prospect of something that begins when something else has ended. Their times are
// taken at the same quantile: when the one is late, so is the other.
type following struct{ first, then negotiate.Prospect }

// Within implements negotiate.Prospect.
func (f following) Within(prob float64, step int64) (int64, bool) {
	first, ok := f.first.Within(prob, 1)
	if !ok {
		return 0, false
	}
	then, ok := f.then.Within(prob, 1)
	return (first + then + step - 1) / step * step, ok
}

// Prob implements negotiate.Prospect.
func (f following) Prob(seconds float64) float64 {
	low, high := 0., 1.
	for high-low > .001 {
		middle := (low + high) / 2
		if within, ok := f.Within(middle, 1); ok && float64(within) <= seconds {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// TimeOut implements negotiate.Prospect.
func (f following) TimeOut() float64 { return max(f.first.TimeOut(), f.then.TimeOut()) }

// Lost implements negotiate.Prospect.
func (f following) Lost(seconds float64) float64 { return f.then.Lost(seconds) }

// afterHold returns the distribution of when the work of a job begins that waits so long and is
// held for some seconds, from the end of the hold on.
func afterHold(wait *delay.Distribution, hold int64) (work delay.Distribution) {
	for i := range work {
		work[i] = wait.Within(float64(hold) + delay.At(i))
	}
	return work
}

// delayed is the Prospect of something that begins after so many seconds.
type delayed struct {
	negotiate.Prospect
	by int64
}

// Within implements negotiate.Prospect.
func (d delayed) Within(prob float64, step int64) (int64, bool) {
	seconds, ok := d.Prospect.Within(prob, 1)
	return (d.by + seconds + step - 1) / step * step, ok
}

// Prob implements negotiate.Prospect.
func (d delayed) Prob(seconds float64) float64 {
	if seconds < float64(d.by) {
		return 0
	}
	return d.Prospect.Prob(seconds - float64(d.by))
}

// Lost implements negotiate.Prospect.
func (d delayed) Lost(seconds float64) float64 {
	return d.Prospect.Lost(max(0, seconds-float64(d.by)))
}
