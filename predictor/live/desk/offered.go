package desk

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// An offer is remembered for so many seconds. Of the offers to one user, only the newest are.
const (
	offersKept = 600
	mostOffers = 64
	// reading is for how many seconds beyond offer.Patience an offer is worth something
	reading = 5
)

// offered remembers the offers made to users of late, so that a user whose offer can no longer be
// promised is told why. Its methods may be called concurrently.
type offered struct {
	mu   sync.Mutex
	made map[string][]madeOffer // by user, the oldest first
}

// madeOffer is an offer that was made at a time instead of what was asked for.
type madeOffer struct {
	at    int64
	asked api.PlanRequest
	api.Offer
}

// estimate returns the estimate with which a user's request was offered to her a moment ago, or 0.
func (o *offered) estimate(user string, req *api.PlanRequest, now int64) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range slices.Backward(o.made[user]) {
		if m := &o.made[user][i]; m.at <= now && now <= m.at+offer.Patience+reading && m.taken(req, now) {
			return m.Estimate
		}
	}
	return 0
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
	for i := range slices.Backward(o.made[user]) {
		if m := &o.made[user][i]; m.taken(req, now) {
			no.Reason = fmt.Sprintf("the queue has changed since %s, when this was offered: %s", slurmtime.Stamp(m.at, zone), no.Reason)
			break
		}
	}
	if o.made == nil {
		o.made = map[string][]madeOffer{}
	}
	made := o.made[user]
	for i := range no.Offers {
		made = append(made, madeOffer{now, *req, no.Offers[i]})
	}
	if len(made) > 0 {
		o.made[user] = made[max(0, len(made)-mostOffers):]
	}
}

// scaled returns needs with the counts of others, if both are known.
func scaled(needs, as *workload.Needs) *workload.Needs {
	if needs == nil || as == nil {
		return needs
	}
	n := *needs
	n.Scale, n.Gres, n.MostNodes = as.Scale, as.Gres, as.MostNodes
	return &n
}

// taken reports whether a request of the time now takes the offer: it is the one that was refused
// but for what the offer changes. A deadline may be relative to the time of the request.
func (m *madeOffer) taken(req *api.PlanRequest, now int64) bool {
	want, got := m.asked, *req
	switch m.Kind {
	case api.OfferProb:
		want.Prob = m.Prob
	case api.OfferFree:
		want.BestEffort, want.BeginAfter = true, 0
		if want.Prob != 0 {
			want.Prob = m.Prob
		}
	case api.OfferLater:
		want.BeginBy = m.BeginBy
		if want.BeginAfter != 0 {
			want.BeginAfter = m.HoldUntil
		}
	case api.OfferEnd:
		want.FinishBy, want.Prob, want.Risk = m.FinishBy, m.Prob, got.Risk
	case api.OfferTime:
		want.Job.Limit = m.Limit
	case api.OfferTasks:
		want.Tasks = m.Tasks
	case api.OfferCost:
		want.MaxCost = got.MaxCost
	case api.OfferSaves:
		want.CheckpointInterval = m.CheckpointInterval
	case api.OfferNodes:
		if got.Job.Nodes != m.Nodes || got.Job.CPUs != m.CPUs {
			return false
		}
		want.Job.Size, want.Needs = got.Job.Size, scaled(want.Needs, got.Needs)
	}
	for _, of := range []struct{ want, got *int64 }{
		{&want.BeginBy, &got.BeginBy}, {&want.FinishBy, &got.FinishBy}, {&want.BeginAfter, &got.BeginAfter},
	} {
		if later := *of.got - *of.want; 0 <= later && later <= now-m.at && *of.want != 0 {
			*of.want = *of.got
		}
	}
	return reflect.DeepEqual(want, got)
}
