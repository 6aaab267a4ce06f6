package desk

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// An offer is remembered for so many seconds. Of the offers to one user, only the newest are.
const (
	offersKept = 600
	mostOffers = 64
)

// offered remembers the offers made to users of late, so that a user whose offer can no longer be
// promised is told why. Its methods may be called concurrently.
type offered struct {
	mu   sync.Mutex
	made map[string][]madeOffer // by user, the oldest first
}

// madeOffer is an offer that was made at a time.
type madeOffer struct {
	at int64
	api.Offer
}

// refuse takes in the refusal of a user's request, and remembers its offers. If the request is what
// was offered to the user before, the reason says since when the queue has changed, in a zone.
func (o *offered) refuse(user string, req *api.PlanRequest, no *api.Refusal, now int64, zone *time.Location) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, made := range o.made {
		made = slices.DeleteFunc(made, func(m madeOffer) bool { return m.at < now-offersKept || m.at > now })
		if o.made[name] = made; len(made) == 0 {
			delete(o.made, name)
		}
	}
	if i := slices.IndexFunc(o.made[user], func(m madeOffer) bool { return m.taken(req, now) }); i >= 0 {
		no.Reason = fmt.Sprintf("the queue has changed since %s, when this was offered: %s", slurmtime.Stamp(o.made[user][i].at, zone), no.Reason)
	}
	if o.made == nil {
		o.made = map[string][]madeOffer{}
	}
	made := o.made[user]
	for _, offer := range no.Offers {
		made = append(made, madeOffer{now, offer})
	}
	if len(made) > 0 {
		o.made[user] = made[max(0, len(made)-mostOffers):]
	}
}

// taken reports whether a request of the time now takes the offer. A deadline may have been
// relative to the time of the request.
func (m *madeOffer) taken(req *api.PlanRequest, now int64) bool {
	passed := func(offered, asked int64) bool { return offered <= asked && asked-offered <= now-m.at }
	if req.Prob != 0 && req.Prob != m.Prob || m.FinishBy == 0 && req.BestEffort != (m.HoldUntil == 0) {
		return false
	}
	switch m.Kind {
	case api.OfferTime:
		if req.Job.Limit != m.Limit {
			return false
		}
	case api.OfferNodes:
		if req.Job.Nodes != m.Nodes || req.Job.CPUs != m.CPUs {
			return false
		}
	case api.OfferTasks:
		if req.Tasks != m.Tasks {
			return false
		}
	case api.OfferSaves:
		if req.CheckpointInterval != m.CheckpointInterval {
			return false
		}
	}
	return passed(m.BeginBy, req.BeginBy) && passed(m.FinishBy, req.FinishBy)
}
