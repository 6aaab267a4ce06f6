package forecast

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// promises tell what forecasts are worth that were chosen to promise something.
//
// Who looks at many submissions, again and again, and takes the cheapest that is
// forecast to be good enough, takes those of which too much is forecast more often
// than others: forecasts that hold on average do not hold on average where they are
// chosen (the winner's curse). So there is a Calibration of those alone. Since
// there are few of them, it can only take away from what is promised.
type promises struct {
	calibration *Calibration
	made        map[int64]promise
}

// promise is the forecast by which a job was promised a start.
type promise struct {
	submit int64
	wait   delay.Distribution
}

func newPromises() promises {
	return promises{NewCalibration(), map[int64]promise{}}
}

// Promise tells that a job is to be submitted as q says because of what is forecast
// of that. It is told again when that changes, or when it is looked at again and
// kept. Like an Observer's methods it must not be called at the same time as any
// other.
func (p *Predictor) Promise(job int64, q *Question) {
	var a Answer
	if len(p.promises.made) < mostAsked && p.Forecast(q, &a) {
		p.promises.made[job] = promise{q.Submit, a.Wait}
	}
}

// bound lowers what may be promised by an answer to what has become of promises.
func (p *promises) bound(a *Answer) {
	kept := a.Wait
	p.calibration.Apply(&kept)
	for i := range kept {
		a.Lower[i] = min(a.Lower[i], kept[i])
	}
}

// started learns from a job that was promised a start.
func (p *promises) started(j *workload.Job, random float64) {
	made, ok := p.made[j.ID]
	if !ok {
		return
	}
	delete(p.made, j.ID)
	if wait, ok := j.Wait(); ok && made.submit == eligible(j) {
		kept := made.wait
		p.calibration.Apply(&kept)
		p.calibration.Learn(&made.wait, &kept, float64(wait), random)
	}
}

// ended forgets a job that did not start.
func (p *promises) ended(j *workload.Job) { delete(p.made, j.ID) }
