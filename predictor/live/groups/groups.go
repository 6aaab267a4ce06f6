// Package groups is the home of groups of promises at several sites. There are two kinds of groups.
// In a group of the kind any, the work of one job runs: of the first job that starts. In a group of
// the kind all, the work of one job of each part begins, at the same time, or no work begins.
//
// Invariant: a decision is in the ledger, on disk, before anybody learns of it, and is never
// changed. So at most one member of a part, or of a group of the kind any, is ever told to go,
// whichever process is killed in between.
//
// A peer is a site's varqd that asks on behalf of its jobs. It runs as varqd's own user, or its
// certificate tells its site. A peer may see a group if the group has a member at its site, and if
// the peer may speak for the group's user. Users may see only their own groups. Times are Unix
// seconds.
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
	// Peer returns the peer that a user stands for, or nil for an ordinary user.
	Peer func(user string) *Peer
	// Deaf reports whether a site's varqd could not ask about groups of the user. Jobs at that site
	// would be lost. nil stands for a function that is always false.
	Deaf func(site, user string) bool
	// Now is the clock.
	Now func() int64
	// Site is the name that other sites use for this site, or empty if they use none.
	Site string
	// Prob is the probability that a group must have if its request does not name one.
	Prob float64
	Log  *slog.Logger
}

// Peer is a varqd that asks on behalf of its site's jobs.
type Peer struct {
	// Site is the peer's site. It is empty if the site is not known; then the peer may ask for any
	// site.
	Site string
	// Speaks reports whether the peer may speak for a user.
	Speaks func(user string) bool
}

// concerns reports whether a peer may see a group. A nil peer may see none.
func (p *Peer) concerns(group *ledger.Group) bool {
	return p != nil && p.Speaks(group.User) && slices.ContainsFunc(group.Members, p.has)
}

// has reports whether a member is at the peer's site.
func (p *Peer) has(m ledger.Member) bool { return p.Site == "" || m.Site == p.Site }

// Groups are the groups whose home is this site. Its methods may be called concurrently. The errors
// that users should read are faults of package api.
type Groups struct {
	Options
	mu    sync.Mutex
	model joint.Model
	// fresh is true if the model has learnt something that is not stored yet. stored is when the
	// model was stored last, Unix seconds.
	fresh  bool
	stored int64
}

// storeEvery is the number of seconds after which the sites' delays are stored again. They are
// large, and change with each job.
const storeEvery = 600

// New returns the groups in a ledger, and restores what was learnt from them.
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

// QuoteGroup returns the probability with which a group would succeed.
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

// jointly converts a group for package joint. Its sets are the group's parts.
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

// best returns the group that has only the most probable member of each set.
func best(g joint.Group) joint.Group {
	var members []joint.Member
	for _, set := range g {
		members = append(members, slices.MaxFunc(set, func(a, b joint.Member) int { return cmp.Compare(a.Prob, b.Prob) }))
	}
	return joint.AllOf(members...)
}

// RegisterGroup stores user's group if the group is probable enough. To register it again changes
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

// givenUp is the value of Lost if the user has given the group up.
const givenUp = "the group was given up"

// CancelGroup gives user's group up, unless the group is already decided.
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

// visible returns a group if asker is its user or a peer that may see it. To anybody else it does
// not disclose whether there is such a group.
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

// ClaimGroup tells whether the work of a member may begin; see claim. A peer asks on behalf of the
// job's user. If c reports that the member was withdrawn, held or missed, the answer is empty.
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
	// the answer will not change
	if group.Decided != 0 && (peer == nil || group.Members[i].Vouched) {
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

// vouch compares the members at a peer's site with the promises that the peer reports. If they
// agree, it notes that the peer vouches for the member: the member has a job there with a confirmed
// promise. If they differ, the group is given up, unless it is decided.
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

// says returns the promise that a peer reports for a member. It reports false if the peer is nil,
// reports nothing about the member, or may not, or if the member is already vouched for.
func (p *Peer) says(m *ledger.Member, said []api.MemberPromise) (promise api.MemberPromise, news bool) {
	at := slices.IndexFunc(said, func(s api.MemberPromise) bool { return s.Plan == m.Plan })
	if p == nil || !p.has(*m) || at < 0 || m.Vouched {
		return promise, false
	}
	return said[at], true
}

// roundoff is the greatest difference between probabilities that count as equal.
const roundoff = 1e-9

// GroupStates returns the states of groups. It leaves out groups that do not exist or that asker
// may not see.
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

// expire gives a group up if it is late.
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

// Tend gives up the groups that are late, and learns from the outcomes of groups.
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
