// Package groups is the home of groups of promises at several sites: of those of the kind any the
// work of one job runs, that of the first that starts; of those of the kind all the work of one job
// of each part, at the same time, or of none.
//
// Invariant: what is decided is in the ledger, on disk, before anybody is told, and is never
// changed. So at most one member of a part, or of a group of the kind any, is ever told to go,
// whoever is killed in between.
//
// A site's varqd that asks on behalf of its jobs is a peer: it runs as varqd's own user, or its
// certificate tells which site's it is. That one learns of groups alone that have a member at its
// site and are those of users for whom it may speak. Users learn of their own groups alone. Times
// are Unix seconds.
package groups

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/joint"
)

// Options configure Groups.
type Options struct {
	Ledger *ledger.Ledger
	// Peer returns which sites' varqd a user is, nil if she is a user proper.
	Peer func(user string) *Peer
	// Deaf reports whether a site's varqd could not learn of groups of user's, whose jobs there
	// would be lost; nil stands for none.
	Deaf func(site, user string) bool
	// Now is the clock.
	Now func() int64
	// Site is what the sites call this one; empty if they do not.
	Site string
	// Prob is the probability that a group must have if its request names none.
	Prob float64
	Log  *slog.Logger
}

// Peer is a varqd that asks on behalf of its site's jobs.
type Peer struct {
	// Site is the one whose varqd it is; empty if that is not known, so that it may ask for any.
	Site string
	// Speaks reports whether it may speak for a user.
	Speaks func(user string) bool
}

// concerns reports whether a peer, or none if it is nil, may learn of a group.
func (p *Peer) concerns(group *ledger.Group) bool {
	return p != nil && p.Speaks(group.User) && slices.ContainsFunc(group.Members, p.has)
}

// has reports whether a member is at the peer's site.
func (p *Peer) has(m ledger.Member) bool { return p.Site == "" || m.Site == p.Site }

// Groups are those of which this site is the home. Its methods may be called concurrently. The
// errors that users should read are faults of package api.
type Groups struct {
	Options
	mu    sync.Mutex
	model joint.Model
	// fresh is true if the model has learnt what is not stored, and stored is when it was stored
	// last, Unix seconds.
	fresh  bool
	stored int64
}

// storeEvery is how many seconds lie between two times that what sites' delays teach is stored: it
// is much, and grows with each job.
const storeEvery = 600

// New returns the groups in a ledger, with what was learnt from them.
func New(ctx context.Context, o Options) (*Groups, error) {
	g := &Groups{Options: o}
	text, err := o.Ledger.Joint(ctx)
	if err != nil || text == nil {
		return g, err
	}
	var state joint.State
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("ledger: table joint: %w", err)
	}
	if err := g.model.Restore(state); err != nil {
		return nil, fmt.Errorf("ledger: table joint: %w", err)
	}
	return g, nil
}

// QuoteGroup tells with what probability a group would succeed.
func (g *Groups) QuoteGroup(_ context.Context, user string, r api.GroupRequest) (api.GroupQuote, error) {
	now := g.Now()
	for i, m := range r.Members {
		if g.Deaf != nil && g.Deaf(m.Site, user) {
			return api.GroupQuote{}, api.Fault(api.ErrForbidden, fmt.Sprintf("members[%d].site: the varqd of %.50q may not ask this site, which would keep the group, about jobs of user %s (server.peers in varq.yaml)", i, m.Site, user))
		}
	}
	if r.Deadline <= now {
		return api.GroupQuote{}, api.Fault(api.ErrInvalid, "deadline: it is in the past")
	}
	parts := jointly(newGroup(&r))
	g.mu.Lock()
	q := g.model.Quote(parts, now)
	unraised := 0.
	if r.Kind == api.GroupAll && len(parts) < len(r.Members) {
		unraised = g.model.Quote(best(parts), now).Prob
	}
	g.mu.Unlock()
	required := r.Prob
	if required == 0 {
		required = g.Prob
	}
	return api.GroupQuote{
		Independent: q.Independent, Joint: q.Joint, Prob: q.Prob, Lower: q.Lower, Unraised: unraised,
		Correlation: q.Strongest.Correlation, Days: q.Strongest.Days, Required: required,
	}, nil
}

// newGroup returns the group that a request asks for.
func newGroup(r *api.GroupRequest) *ledger.Group {
	group := &ledger.Group{ID: r.ID, Kind: r.Kind, Deadline: r.Deadline}
	for _, m := range r.Members {
		group.Members = append(group.Members, ledger.Member{GroupMember: m})
	}
	return group
}

// jointly returns a group for package joint, whose sets are its parts.
func jointly(g *ledger.Group) (group joint.Group) {
	for _, part := range g.Parts() {
		var set []joint.Member
		for _, i := range part {
			set = append(set, joint.Member{Site: g.Members[i].Site, Prob: g.Members[i].Prob})
		}
		group = append(group, set)
	}
	return group
}

// best returns the group that has the most probable member of each set alone.
func best(g joint.Group) joint.Group {
	var members []joint.Member
	for _, set := range g {
		members = append(members, slices.MaxFunc(set, func(a, b joint.Member) int { return cmp.Compare(a.Prob, b.Prob) }))
	}
	return joint.AllOf(members...)
}

// RegisterGroup writes user's group down, if it is probable enough. To register it again changes
// nothing.
func (g *Groups) RegisterGroup(ctx context.Context, user string, r api.GroupRequest) (api.GroupQuote, error) {
	q, err := g.QuoteGroup(ctx, user, r)
	if err != nil {
		return q, err
	}
	if why := q.Lacks(); why != "" {
		return q, api.Fault(api.ErrConflict, why)
	}
	group := newGroup(&r)
	group.User, group.Registered = user, g.Now()
	group.Prob, group.Independent, group.Joint, group.Estimate = q.Required, q.Independent, q.Joint, q.Prob
	switch err := g.Ledger.Register(ctx, group); {
	case errors.Is(err, ledger.ErrGroupTaken):
		return q, api.Fault(api.ErrConflict, ledger.ErrGroupTaken.Error())
	case errors.Is(err, ledger.ErrTooMany):
		return q, api.Fault(api.ErrConflict, fmt.Sprintf("you have %d open groups, and nobody gets more at once; wait until some are decided, or cancel their jobs", api.MaxGroups))
	case err != nil:
		g.Log.Error("a group could not be written down", "user", user, "error", err)
		return q, api.Fault(api.ErrUnavailable, "the group could not be written down; try again")
	}
	g.Log.Info("group", "id", r.ID, "kind", r.Kind, "user", user, "members", len(r.Members), "prob", q.Required, "joint", q.Joint, "estimate", q.Prob)
	return q, nil
}

// givenUp is Lost of a group that its user has given up.
const givenUp = "the group was given up"

// CancelGroup gives user's group up, unless work of it has begun or is about to.
func (g *Groups) CancelGroup(ctx context.Context, user string, c api.GroupCancellation) error {
	switch group, err := g.visible(ctx, user, c.Group); {
	case err != nil:
		return err
	case group.User != user:
		return errUnknown
	}
	_, err := g.Ledger.Decide(ctx, c.Group, func(group *ledger.Group) error {
		switch {
		case group.Lost != "":
			return nil
		case group.Decided != 0:
			return ledger.ErrGroupBegins
		}
		group.Decided, group.Lost = g.Now(), givenUp
		return nil
	})
	if errors.Is(err, ledger.ErrGroupBegins) {
		return api.Fault(api.ErrConflict, ledger.ErrGroupBegins.Error()+": cancel its jobs with scancel")
	}
	return err
}

// visible returns a group, if asker is its user or a peer. Nobody else learns whether there is such
// a group.
func (g *Groups) visible(ctx context.Context, asker, id string) (*ledger.Group, error) {
	found, err := g.Ledger.Groups(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].User != asker && !g.Peer(asker).concerns(&found[0]) {
		return nil, errUnknown
	}
	return &found[0], nil
}

var errUnknown = api.Fault(api.ErrNotFound, "there is no such group")

// ClaimGroup says whether the work of a member may begin; see claim. A peer asks for the user of
// the job. To what is told of a member instead, the answer is empty.
func (g *Groups) ClaimGroup(ctx context.Context, asker string, c api.GroupClaim) (api.GateAnswer, error) {
	group, err := g.visible(ctx, asker, c.Group)
	if err != nil {
		return api.GateAnswer{}, err
	}
	if group.User != c.User {
		return api.GateAnswer{}, errUnknown
	}
	i := slices.IndexFunc(group.Members, func(m ledger.Member) bool { return m.Plan == c.Plan })
	peer := g.Peer(asker)
	if i < 0 || group.Members[i].Job != c.Job || peer != nil && !peer.has(group.Members[i]) {
		return api.GateAnswer{}, api.Fault(api.ErrForbidden, ledger.ErrNotOfGroup.Error())
	}
	said := []api.MemberPromise{c.Promise}
	var answer api.GateAnswer
	if c.Withdrawn || c.Missed || c.Held {
		_, err := g.Ledger.Decide(ctx, c.Group, func(group *ledger.Group) error {
			vouch(group, peer, said, g.Now())
			switch {
			case c.Missed:
				miss(group, i)
			case c.Withdrawn:
				withdraw(group, i, g.Now())
			default:
				hold(group, i, g.Now())
			}
			return nil
		})
		return answer, err
	}
	if group.Decided != 0 && (peer == nil || group.Members[i].Vouched) { // for ever
		return claim(group, i, g.Now()), nil
	}
	decided, err := g.Ledger.Decide(ctx, c.Group, func(group *ledger.Group) error {
		vouch(group, peer, said, g.Now())
		answer = claim(group, i, g.Now())
		return nil
	})
	if err != nil {
		g.Log.Error("a group cannot be decided", "group", c.Group, "error", err)
		return api.GateAnswer{}, api.Fault(api.ErrUnavailable, "it cannot be written down now whose work begins; ask again")
	}
	if decided.Decided != 0 {
		g.Log.Info("group is decided", "group", c.Group, "winners", state(&decided).Winners, "go", decided.Go, "lost", decided.Lost)
	}
	return answer, nil
}

// vouch notes of the members at a peer's site that it has said of them what the group does: so they
// have jobs there, with promises that were confirmed. A group that says something else of one is
// given up, unless it is decided.
func vouch(group *ledger.Group, peer *Peer, said []api.MemberPromise, now int64) {
	for i := range group.Members {
		m := &group.Members[i]
		switch p, news := peer.says(m, said); {
		case !news:
		case p.GroupProb == 0 || math.Abs(p.Prob-m.Prob) < roundoff && group.Prob < p.GroupProb+roundoff:
			m.Vouched = true
		case group.Decided == 0:
			group.Decided, group.Lost = now, job(m)+" was not promised with the probability that the group has it with"
		}
	}
}

// says returns what a peer says of a member, or none if it is nil. It reports false if that is not
// for it to say, or is known.
func (p *Peer) says(m *ledger.Member, said []api.MemberPromise) (promise api.MemberPromise, news bool) {
	at := slices.IndexFunc(said, func(s api.MemberPromise) bool { return s.Plan == m.Plan })
	if p == nil || !p.has(*m) || at < 0 || m.Vouched {
		return promise, false
	}
	return said[at], true
}

// roundoff is by how much equal probabilities may differ.
const roundoff = 1e-9

// GroupStates tells what has become of groups. Those that asker may not see, or that there are not,
// are left out.
func (g *Groups) GroupStates(ctx context.Context, asker string, q api.GroupsQuery) ([]api.GroupState, error) {
	found, err := g.Ledger.Groups(ctx, q.Groups...)
	if err != nil {
		return nil, err
	}
	states := []api.GroupState{}
	peer := g.Peer(asker)
	for i := range found {
		if group := &found[i]; group.User == asker || peer.concerns(group) {
			if group, err = g.expire(ctx, group); err != nil {
				return nil, err
			}
			if peer.concerns(group) && slices.ContainsFunc(group.Members, func(m ledger.Member) bool { _, news := peer.says(&m, q.Promises); return news }) {
				vouched, err := g.Ledger.Decide(ctx, group.ID, func(group *ledger.Group) error { vouch(group, peer, q.Promises, g.Now()); return nil })
				if err != nil {
					return nil, err
				}
				group = &vouched
			}
			s := state(group)
			if q.Members {
				s.Kind, s.Deadline, s.Prob, s.Estimate = group.Kind, group.Deadline, group.Prob, group.Estimate
				for _, m := range group.Members {
					s.Members = append(s.Members, m.GroupMember)
				}
			}
			states = append(states, s)
		}
	}
	return states, nil
}

// expire gives a group up whose jobs are not all there in time.
func (g *Groups) expire(ctx context.Context, group *ledger.Group) (*ledger.Group, error) {
	if !late(group, g.Now()) {
		return group, nil
	}
	decided, err := g.Ledger.Decide(ctx, group.ID, func(group *ledger.Group) error {
		giveUp(group, g.Now())
		return nil
	})
	return &decided, err
}

// Tend gives groups up whose jobs are not all there in time, and learns from what has become of
// groups.
func (g *Groups) Tend(ctx context.Context) error {
	now := g.Now()
	list, err := g.Ledger.Unlearnt(ctx, now)
	g.mu.Lock()
	defer g.mu.Unlock()
	due := g.fresh && now >= g.stored+storeEvery
	if err != nil || len(list) == 0 && !due {
		return err
	}
	before := g.model.State()
	var learnt []string
	for i := range list {
		group, err := g.expire(ctx, &list[i])
		if err != nil {
			return err
		}
		came, known := outcome(group, now)
		_, vouched := group.Vouched()
		if known && (vouched || now > max(group.Deadline, group.Go)+hear) {
			if foreseen(group) && vouched {
				g.model.Came(jointly(group).Kind(), group.Joint, came, now)
			}
			learnt = append(learnt, group.ID)
		}
	}
	if len(learnt) == 0 && !due {
		return nil
	}
	text, err := json.Marshal(g.model.State())
	if err == nil {
		err = g.Ledger.SetLearnt(ctx, text, learnt...)
	}
	if err != nil {
		return errors.Join(err, g.model.Restore(before))
	}
	g.fresh, g.stored = false, now
	return nil
}
