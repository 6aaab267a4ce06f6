package desk

import (
	"context"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/licences"
	"github.com/varq-project/varq/predictor/workload"
)

// Licences knows how many licences were free.
type Licences interface {
	// Free returns how likely all licences of a list are to be free later. all is how many there are
	// and how many are in use at the time now, in Unix seconds.
	Free(ctx context.Context, list string, all map[string]limits.License, now int64) (licences.Forecast, error)
}

// special is an Outlook that also forecasts jobs that wait for something else than nodes of their
// partition: inside of one of Slurm's own reservations, or for licences that can run out.
//
// A job inside of a reservation waits for the nodes of the reservation alone, and no job from
// outside passes it there. So the room beside the jobs that run and wait in the reservation, by
// which the desk bounds each forecast, says when it starts: the forecast itself is that it starts
// within latency of having room. No past wait tells how often that comes true, and so nothing above
// surest is promised.
//
// A job that needs licences starts in time with no higher probability than that they are free then.
type special struct {
	Outlook
	desk *occupancy
}

const (
	surest  = .95
	latency = 90 // seconds
)

// Forecast implements trajectory.Forecaster.
func (o special) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if r.Reservation == "" {
		o.Outlook.Forecast(r, now, c, est)
	} else {
		for i := range c {
			est[i] = workload.Estimate{Class: ofReservation(&r)}
			if c[i].Budget >= latency {
				est[i].Prob, est[i].Held = surest, float64(c[i].Budget-latency)
			}
		}
	}
	if r.Licences == "" {
		return
	}
	free := o.free(&r, now)
	for i := range c {
		prob, unknown := free(c[i].Submit + c[i].Budget)
		if est[i].Prob = min(est[i].Prob, prob); est[i].Down == "" {
			est[i].Down = unknown
		}
	}
}

// Predict implements Outlook.
func (o special) Predict(r workload.Request, job int64) (a forecast.Answer, ok bool) {
	if r.Reservation == "" {
		a, ok = o.Outlook.Predict(r, job)
	} else {
		a, ok = inReservation(&r), true
	}
	return a, ok && o.licensed(&r, &a)
}

// Wait implements Outlook.
func (o special) Wait(q *forecast.Question, waited int64, a *forecast.Answer) (ok bool) {
	if q.Reservation == "" {
		ok = o.Outlook.Wait(q, waited, a)
	} else {
		*a, ok = inReservation(&q.Request), true
	}
	return ok && o.licensed(&q.Request, a)
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

// licensed lowers the probabilities of an answer to those with which the licences that r needs are
// free. It reports false if nothing is known of that; a.Down then says why.
func (o special) licensed(r *workload.Request, a *forecast.Answer) bool {
	if r.Licences == "" {
		return true
	}
	now, most := o.desk.Now(), 0.
	free := o.free(r, now)
	for i := range a.Wait {
		prob, unknown := free(now + int64(delay.At(i)))
		if unknown != "" && i == 0 {
			a.Down = unknown
			return false
		}
		most = max(most, prob) // a job that has started by then has started
		a.Wait[i], a.Lower[i] = min(a.Wait[i], most), min(a.Lower[i], most)
	}
	return true
}

// free returns how likely the licences of r are to be free later.
func (o special) free(r *workload.Request, now int64) licences.Forecast {
	unknown := "how likely licence " + r.Licences + " is to be free then is not known"
	c := o.desk.Premises.Limits()
	if c == nil || o.desk.Licences == nil {
		return func(int64) (float64, string) { return 0, unknown }
	}
	f, err := o.desk.Licences.Free(context.Background(), r.Licences, c.Licenses, now)
	if err != nil {
		o.desk.Log.Warn("free licences cannot be forecast", "licences", r.Licences, "error", err)
		return func(int64) (float64, string) { return 0, unknown }
	}
	return f
}
