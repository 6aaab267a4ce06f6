package forecast

import (
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// members are told together what happens, each once.
type members []Forecaster

// Submitted implements Observer.
func (all members) Submitted(j *workload.Job) {
	for _, m := range all {
		m.Submitted(j)
	}
}

// Started implements Observer.
func (all members) Started(j *workload.Job) {
	for _, m := range all {
		m.Started(j)
	}
}

// Ended implements Observer.
func (all members) Ended(j *workload.Job) {
	for _, m := range all {
		m.Ended(j)
	}
}

// Outage tells of a time in which jobs cannot start, as the cluster says. It is
// told again, with the same partition and beginning, when it is over.
func (p *Predictor) Outage(o qbets.Outage) {
	for _, m := range p.members {
		if m, ok := m.(interface{ Outage(qbets.Outage) }); ok {
			m.Outage(o)
		}
	}
}

// Members returns the forecasters of submissions of the present.
func (p *Predictor) Members() []Forecaster { return p.present.members }

// SetConfidence sets the level of the lower bounds on probabilities, in (0,1),
// which is .95 before, of a Predictor that has learnt nothing.
func (p *Predictor) SetConfidence(level float64) {
	for _, b := range [...]*Blend{p.present, p.later} {
		b.calibration.SetConfidence(level)
	}
}

// Inherit takes over from another what has become of promises, which no past tells
// of.
func (p *Predictor) Inherit(from *Predictor) {
	p.promises, from.promises = from.promises, newPromises()
}
