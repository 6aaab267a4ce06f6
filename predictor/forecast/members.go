package forecast

import "github.com/varq-project/varq/predictor/qbets"

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
