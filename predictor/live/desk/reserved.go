package desk

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/workload"
)

// reserved is an Outlook that also forecasts jobs inside of Slurm's own reservations. Such a job
// waits for the nodes of the reservation alone, and no job of another passes it there. So the room
// beside the jobs that run and wait in the reservation, by which the desk bounds each forecast,
// says when it starts: the forecast itself is that it starts within latency of having room. No past
// wait tells how often that comes true, and so nothing above surest is promised.
type reserved struct {
	Outlook
	premises *premises.Premises
}

const (
	surest  = .95
	latency = 90 // seconds
)

// encloses reports whether a job runs inside of the reservation that it asks for.
func (o reserved) encloses(r *workload.Request) bool {
	c := o.premises.Limits()
	return r.Reservation != "" && c != nil && c.Reservations.Encloses(r.Reservation)
}

// Forecast implements trajectory.Forecaster.
func (o reserved) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if !o.encloses(&r) {
		o.Outlook.Forecast(r, now, c, est)
		return
	}
	for i := range c {
		est[i] = workload.Estimate{Class: ofReservation(&r)}
		left := c[i].Budget
		if c[i].Job != 0 {
			left -= max(0, now-c[i].Submit)
		}
		if left >= latency {
			est[i].Prob, est[i].Forecast, est[i].Bound = surest, surest, surest
			est[i].Held = float64(left - latency)
		}
	}
}

// Predict implements Outlook.
func (o reserved) Predict(r workload.Request, job int64) (forecast.Answer, bool) {
	if !o.encloses(&r) {
		return o.Outlook.Predict(r, job)
	}
	return inReservation(&r), true
}

// Wait implements Outlook.
func (o reserved) Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool {
	if !o.encloses(&q.Request) {
		return o.Outlook.Wait(q, waited, a)
	}
	*a = inReservation(&q.Request)
	return true
}

// inReservation returns the forecast for a job that is submitted now, or waits already.
func inReservation(r *workload.Request) (a forecast.Answer) {
	for i := range a.Wait {
		if delay.At(i) >= latency {
			a.Wait[i], a.Lower[i] = surest, surest
		}
	}
	a.Class = ofReservation(r)
	return a
}

func ofReservation(r *workload.Request) string { return "reservation " + r.Reservation }
