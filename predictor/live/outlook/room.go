package outlook

import (
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Room returns a function that bounds the probability that the work of a claim on a place runs from
// its From on, beside the jobs that run now and other claims, or tells that the probability is
// below least. The job of an id, if it is not 0, is not in its own way. Before the first Model
// serves there is no bound. One goroutine at a time may use the function.
func (o *Outlook) Room(place workload.Place, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room {
	occupants := o.occupants(func(t *twin.Twin) *twin.Occupants { return t.Occupants(place, job, now, others) })
	return func(c workload.Claim, least float64) workload.Room { return occupants.Room(&c, least) }
}

// Licences is Room for the licences of a name that the job of a claim needs, of total in all.
func (o *Outlook) Licences(name string, total int32, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room {
	licensees := o.occupants(func(t *twin.Twin) *twin.Occupants { return t.Licensees(name, total, job, now, others) })
	return func(c workload.Claim, least float64) workload.Room { return licensees.RoomLicensed(&c, name, least) }
}

// occupants returns what ask gets of the twin of the Model that serves, or no bound without one.
func (o *Outlook) occupants(ask func(*twin.Twin) *twin.Occupants) *twin.Occupants {
	m := o.model.Load()
	if m == nil {
		return new(twin.Occupants)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.predictor.Occupants(ask)
}
