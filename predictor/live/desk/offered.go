package desk

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// A refusal is remembered for refusalsKept seconds, but at most mostRefusals of one user, which are
// more than keep room at one time.
const (
	refusalsKept = 600
	mostRefusals = 200
)

// The room of offers is kept for the user to whom they were made, from when they were made, for
// roomKept seconds or until she has taken one. It is kept from everybody after her first mostFirst
// refusals within refusalsKept seconds, and so for a third of the time at most. After further ones
// it is kept from those users alone who have had as many: where all ask again and again, offers
// hold, and whoever comes seldom is not kept from what they ask for. The offers of at most
// mostAtOnce refusals of one user, and of mostKeptOfAll of all users, keep room at the same time,
// which bounds the cost of a plan.
const (
	reading       = 5 // seconds beyond offer.Patience
	roomKept      = offer.Patience + reading
	mostFirst     = refusalsKept / 3 / roomKept
	mostAtOnce    = mostFirst
	mostKeptOfAll = 200
)

// offered remembers the offers made to users of late, keeps their room, and tells a user why what
// she was offered can no longer be promised. Its methods may be called concurrently.
type offered struct {
	mu   sync.Mutex
	made map[string][]refused // by user, the oldest first
	n    int64                // how many refusals there have been
}

// refused is what was asked for and refused at a time, and what was offered instead.
type refused struct {
	n, at  int64
	asked  api.PlanRequest
	offers []api.Offer
	keeps  []workload.Claim // the room for any one of the offers, or nil
	until  int64            // before which that room is kept; at, if there is none
	later  []string         // plans that were promised to others while it was kept; see standing
	taken  bool             // one of the offers has been promised
	beyond bool             // it is not one of the user's first; see standing
}

// keeping reports whether room is kept for the offers.
func (r *refused) keeping(now int64) bool { return r.at <= now && now < r.until }

// stands reports whether one of the offers may be taken as it was made.
func (r *refused) stands(now int64) bool { return !r.taken && now < r.at+roomKept }

// release gives up the room from now on.
func (r *refused) release(now int64) { r.until = max(r.at, min(r.until, now)) }

// find returns the newest offer made to a user that her request takes, and with which refusal it
// came; nil if there is none.
func (o *offered) find(user string, req *api.PlanRequest, now int64) (*refused, *api.Offer) {
	for i := range slices.Backward(o.made[user]) {
		r := &o.made[user][i]
		for j := range r.offers {
			if r.at <= now && now <= r.at+refusalsKept && r.isTaken(&r.offers[j], req, now) {
				return r, &r.offers[j]
			}
		}
	}
	return nil, nil
}

// standing is what a request has by the offer that it takes. Others that were offered or promised
// something after the offer were found to have room beside it, and are not in its way.
type standing struct {
	offer api.Offer // the one that it takes, if at is not 0
	at, n int64     // when its refusal was made, 0 without one, and its number or latest
	later []string  // the plans that were promised to others after the offer
	// beyond is true if the user had had her first mostFirst refusals by then
	beyond bool
}

// isBehind reports whether it was, or is to be, found to have room beside the offers of a refusal
// to another user.
func (s *standing) isBehind(r *refused) bool {
	if r.n < s.n {
		return s.beyond || !r.beyond
	}
	return s.beyond && !r.beyond // r did not heed the offer
}

// isWay reports whether an offer is about the way and the size of a request that is one of several.
func isWay(o *api.Offer, req *api.PlanRequest) bool {
	if req.Of == nil {
		return true
	}
	is := func(offered, asked string) bool { return asked == "" || strings.EqualFold(asked, offered) }
	at, job := &o.Claim.Request, &req.Job
	return is(at.Partition, job.Partition) && is(at.Account, job.Account) && is(at.QOS, job.QOS) &&
		(len(req.Of.Sizes) == 0 || o.Nodes == job.Nodes)
}

// latest is after all refusals.
const latest = math.MaxInt64

// standing returns the standing of a user's request. Without a request, or without an offer that
// it takes, that is behind everything. One of several ways or sizes of a request takes an offer of
// that way and size.
func (o *offered) standing(user string, req *api.PlanRequest, now int64) standing {
	o.mu.Lock()
	defer o.mu.Unlock()
	if req != nil {
		r, taken := o.find(user, cmp.Or(req.Of, req), now)
		if r != nil && r.stands(now) && isWay(taken, req) {
			return standing{*taken, r.at, r.n, slices.Clone(r.later), r.beyond}
		}
	}
	return standing{n: latest, beyond: o.isBeyond(user, now)}
}

// isBeyond reports whether a user has had her first mostFirst refusals of late.
func (o *offered) isBeyond(user string, now int64) bool {
	first := 0
	for i := range o.made[user] {
		if r := &o.made[user][i]; !r.beyond && r.until > r.at && r.at >= now-refusalsKept {
			first++
		}
	}
	return first >= mostFirst
}

// claims returns the room that is kept for offers made to others than a user whose request has a
// standing, and until when some of it is kept; 0 if there is none.
func (o *offered) claims(user string, as *standing, now int64) (claims []workload.Claim, until int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(o.made)) {
		for i := range o.made[name] {
			if r := &o.made[name][i]; name != user && r.keeping(now) && as.isBehind(r) {
				claims, until = append(claims, r.keeps...), max(until, r.until)
			}
		}
	}
	return claims, until
}

// promise takes in that a user's request was promised as a plan. If it takes an offer, the promise
// has the room from now on.
func (o *offered) promise(user string, req *api.PlanRequest, plan string, now int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	as := standing{n: latest, beyond: o.isBeyond(user, now)}
	if r, _ := o.find(user, req, now); r != nil {
		r.release(now)
		if r.stands(now) {
			as.n, as.beyond = r.n, r.beyond
		}
		r.taken = true
	}
	for name, made := range o.made {
		for i := range made {
			if r := &made[i]; name != user && r.keeping(now) && as.isBehind(r) {
				r.later = append(r.later, plan)
			}
		}
	}
}

// refuse takes in the refusal of a user's request, and remembers its offers. If the request is what
// was offered to the user before, the reason says since when the queue has changed, in a zone. If
// keep is true, no.KeptUntil and no.KeptFromSome say for how long their room is kept for her and
// from whom, or no.Unkept that it is not.
func (o *offered) refuse(user string, req *api.PlanRequest, no *api.Refusal, keep bool, now int64, zone *time.Location) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(now)
	if r, _ := o.find(user, req, now); r != nil {
		no.Reason = fmt.Sprintf("the queue has changed since %s, when this was offered: %s", slurmtime.Stamp(r.at, zone), no.Reason)
	}
	if len(no.Offers) == 0 {
		return
	}
	if o.made == nil {
		o.made = map[string][]refused{}
	}
	made := o.made[user]
	for i := range made {
		if r := &made[i]; reflect.DeepEqual(r.asked, *req) {
			r.release(now)
		}
	}
	if len(made) == mostRefusals {
		oldest := slices.IndexFunc(made, func(r refused) bool { return !r.keeping(now) })
		made = slices.Delete(made, oldest, oldest+1)
	}
	o.n++
	newest := refused{n: o.n, at: now, asked: *req, offers: no.Offers, until: now, beyond: o.isBeyond(user, now)}
	of, ofAll := o.keeping(user, now)
	switch {
	case !keep:
	case of < mostAtOnce && ofAll < mostKeptOfAll:
		newest.keeps, newest.until = anyOf(no.Offers, now+roomKept), now+roomKept
		no.KeptUntil, no.KeptFromSome = now+offer.Patience, newest.beyond
	default:
		no.Unkept = true
	}
	o.made[user] = append(made, newest)
}

// forget forgets refusals of long ago, and of a time that is still to come since the clock jumped.
func (o *offered) forget(now int64) {
	for name, made := range o.made {
		made = slices.DeleteFunc(made, func(r refused) bool { return r.at < now-refusalsKept || r.at > now })
		if o.made[name] = made; len(made) == 0 {
			delete(o.made, name)
		}
	}
}

// keeping returns how many refusals of a user, and of all, keep room.
func (o *offered) keeping(user string, now int64) (of, ofAll int) {
	for name, made := range o.made {
		for i := range made {
			if !made[i].keeping(now) {
				continue
			}
			if ofAll++; name == user {
				of++
			}
		}
	}
	return of, ofAll
}

// anyOf returns claims that keep the room for any one of several offers of a job, which may be
// taken until a time: at each time what the largest of them needs.
func anyOf(offers []api.Offer, until int64) (kept []workload.Claim) {
	var claims []workload.Claim
	for i := range offers {
		if c := offers[i].Claim; c.Nodes != 0 {
			c.Limit += max(0, until-c.From)
			claims = append(claims, c)
		}
	}
	slices.SortStableFunc(claims, func(a, b workload.Claim) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(b.CPUs, a.CPUs))
	})
	for _, c := range claims {
		kept = append(kept, outside(c, kept)...)
	}
	return kept
}

// outside returns the parts of a claim at the times at which none of others is.
func outside(c workload.Claim, others []workload.Claim) (parts []workload.Claim) {
	from, end := c.Start, c.From+c.Limit
	for from < end {
		covers := func(o workload.Claim) bool { return o.Start <= from && from < o.From+o.Limit }
		if i := slices.IndexFunc(others, covers); i >= 0 {
			from = others[i].From + others[i].Limit
			continue
		}
		part := c
		part.Start, part.From = from, max(from, c.From)
		until := end
		for i := range others {
			if at := others[i].Start; at > from {
				until = min(until, at)
			}
		}
		if part.From >= until {
			part.From = from
		}
		part.Limit = until - part.From
		parts = append(parts, part)
		from = until
	}
	return parts
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

// isTaken reports whether a request of the time now takes an offer: it is the one that was refused
// but for what the offer changes. A deadline may be relative to the time of the request.
func (r *refused) isTaken(o *api.Offer, req *api.PlanRequest, now int64) bool {
	want, got := r.asked, *req
	switch o.Kind {
	case api.OfferProb: // or with less
		if want.Prob = got.Prob; got.Prob == 0 || got.Prob > o.Prob {
			return false
		}
	case api.OfferFree:
		want.BestEffort, want.BeginAfter, want.BeginBy = true, 0, o.BeginBy
		if want.Prob != 0 {
			want.Prob = o.Prob
		}
	case api.OfferLater:
		want.BeginBy = o.BeginBy
		if want.BeginAfter != 0 {
			want.BeginAfter = o.HoldUntil
		}
	case api.OfferEnd:
		want.FinishBy, want.Prob, want.Risk = o.FinishBy, o.Prob, got.Risk
	case api.OfferTime:
		want.Job.Limit = o.Limit
	case api.OfferTasks:
		want.Tasks = o.Tasks
	case api.OfferCost:
		want.MaxCost = got.MaxCost
	case api.OfferSaves:
		want.CheckpointInterval = o.CheckpointInterval
	case api.OfferNodes:
		// the CPUs of the offer may be all of its nodes
		if size := &got.Job.Size; size.Nodes != o.Nodes || size.CPUs > o.CPUs || size.GPUs > want.Job.GPUs || size.Memory > want.Job.Memory {
			return false
		}
		want.Job.Size, want.Needs = got.Job.Size, scaled(want.Needs, got.Needs)
	}
	for _, of := range []struct{ want, got *int64 }{
		{&want.BeginBy, &got.BeginBy}, {&want.FinishBy, &got.FinishBy}, {&want.BeginAfter, &got.BeginAfter},
	} {
		if later := *of.got - *of.want; 0 <= later && later <= now-r.at && *of.want != 0 {
			*of.want = *of.got
		}
	}
	return reflect.DeepEqual(want, got)
}
