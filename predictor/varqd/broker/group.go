package broker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// GroupSite is a site whose jobs can be members of a group.
type GroupSite interface {
	Site
	// SubmitMember is Submit for a member of a group.
	SubmitMember(ctx context.Context, slot *api.Slot, tentative int64, of sbatch.Member) (sbatch.Submission, error)
}

// Home is the varqd that keeps a group.
type Home interface {
	QuoteGroup(ctx context.Context, r api.GroupRequest) (api.GroupQuote, error)
	RegisterGroup(ctx context.Context, r api.GroupRequest) (api.GroupQuote, error)
	CancelGroup(ctx context.Context, c api.GroupCancellation) error
}

// GroupOptions configure ReserveGroup.
type GroupOptions struct {
	Options
	Kind string // api.GroupAny or api.GroupAll
	// Prob is the least probability that the group must have; see Request.
	Prob float64
	// HomeName is the sites' name for the home. It is empty if the home is their own varqd.
	HomeName string
}

// GroupOutcome is the outcome of ReserveGroup.
type GroupOutcome struct {
	// Group is the group's identifier, empty if nothing is reserved.
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	Home  string `json:"home,omitempty"`
	// Quote is the quote of the members, or of the proposed members.
	Quote *api.GroupQuote `json:"quote,omitempty"`
	// Members are the jobs, and Failed are the slots that could not be reserved.
	Members []Choice  `json:"members,omitempty"`
	Failed  []Failure `json:"failed,omitempty"`
	// Why is the reason why nothing is reserved: a clause without a full stop.
	Why string `json:"why,omitempty"`
}

// request returns the group of some members.
func (o *GroupOptions) request(id string, members []Choice) api.GroupRequest {
	r := api.GroupRequest{ID: id, Kind: o.Kind, Prob: o.Prob}
	for i := range members {
		m := &members[i]
		member := api.GroupMember{Site: m.Site, Partition: m.Partition, Part: m.Part, Job: m.Job, Prob: min(m.Estimate, api.MostMemberProb)}
		if m.Plan != nil {
			member.Plan, member.Prob = m.Plan.ID, min(m.Plan.Estimate, api.MostMemberProb)
		}
		r.Deadline = max(r.Deadline, m.Start)
		r.Members = append(r.Members, member)
	}
	return r
}

// QuoteGroup returns what ReserveGroup would reserve.
func QuoteGroup(ctx context.Context, home Home, chosen []Choice, o GroupOptions) (GroupOutcome, error) {
	out := GroupOutcome{Kind: o.Kind, Home: o.HomeName, Members: chosen}
	quote, err := home.QuoteGroup(ctx, o.request("", chosen))
	if err == nil {
		out.Quote, out.Why = &quote, quote.Lacks()
	}
	return out, err
}

// ReserveGroup submits a job for each of the chosen slots, registers the jobs as a group with the
// home, and confirms them. If nothing is reserved, nothing is left: promises that are not confirmed
// expire, and the home gives up the rest of an incomplete group of the kind api.GroupAll. After an
// error that is a *Doubt, it is not known whether the group can begin. The group exists from its
// first confirmation on, even if nobody is left to confirm the other members. Then only the home
// can give it up, until its work has begun.
//
// The Quote is about the members that are known to be confirmed.
//
// Invariant: a promise is confirmed only after the home knows the group. So no job of the group
// works without asking the home.
func ReserveGroup(ctx context.Context, sites []GroupSite, home Home, chosen []Choice, o GroupOptions) (GroupOutcome, error) {
	out, err := QuoteGroup(ctx, home, chosen, o)
	if out.Members = nil; err != nil || out.Why != "" {
		return out, interrupted(ctx, err)
	}
	g := &grouping{o: &o, home: home, of: sbatch.Member{Group: api.NewPlanID(), Home: o.HomeName, GroupProb: o.Prob}, sites: map[string]GroupSite{}, whys: make([]error, len(chosen)), members: slices.Clone(chosen)}
	for _, s := range sites {
		g.sites[s.Name()] = s
	}
	g.each(func(i int) error { return g.submit(ctx, &g.members[i]) })
	if out.Why = g.give(&out); out.Why == "" && ctx.Err() == nil {
		var q api.GroupQuote
		if q, err = g.register(ctx); err == nil {
			out.Quote = &q
		} else if api.Refused(err) {
			out.Why, err = err.Error(), nil
		}
	}
	if out.Why != "" || err != nil || ctx.Err() != nil {
		g.release(ctx)
		return out, interrupted(ctx, err)
	}
	return g.confirm(ctx, out)
}

// interrupted returns ErrInterrupted if ctx is done, and err otherwise.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// grouping is the state of one ReserveGroup.
type grouping struct {
	o       *GroupOptions
	home    Home
	of      sbatch.Member // the same for all members
	sites   map[string]GroupSite
	members []Choice
	whys    []error // by member, nil if nothing has failed
}

// each calls do for all members concurrently.
func (g *grouping) each(do func(i int) error) {
	var wait sync.WaitGroup
	for i := range g.members {
		wait.Go(func() { g.whys[i] = do(i) })
	}
	wait.Wait()
}

// submit submits the job of a member. After an error, what is left behind expires by itself.
func (g *grouping) submit(ctx context.Context, c *Choice) error {
	site := g.sites[c.Site]
	submitting, cancel := context.WithTimeout(ctx, time.Duration(g.o.Tentative)*time.Second)
	defer cancel()
	got, err := site.SubmitMember(submitting, &c.Slot, g.o.Tentative, g.of)
	c.Plan, c.Job = got.Plan, got.Job
	if err == nil {
		err = c.agree(got.Plan)
	}
	if err != nil && got.Plan != nil {
		g.o.release(ctx, site, c)
	}
	return err
}

// confirm confirms the members of a registered group, or gives the group up. It completes out.
func (g *grouping) confirm(ctx context.Context, out GroupOutcome) (GroupOutcome, error) {
	registered := len(g.members)
	g.each(func(i int) error { return g.o.confirm(ctx, g.sites[g.members[i].Site], &g.members[i]) })
	certain, doubt := g.certain()
	var err error
	out.Why = g.give(&out)
	switch {
	case out.Why != "":
	case doubt != nil && !g.enough(certain):
		out.Group, out.Members = g.of.Group, g.members
		return out, doubt
	case len(certain) < registered: // fewer members than the quote was about
		var q api.GroupQuote
		if q, err = g.home.QuoteGroup(ctx, g.o.request("", certain)); err == nil {
			out.Quote, out.Why = &q, q.Lacks()
		}
	}
	if out.Why != "" || err != nil || ctx.Err() != nil {
		standing := g.enough(certain)
		given := g.giveUp(ctx)
		if given == nil || !standing {
			return out, interrupted(ctx, err)
		}
		out.Group, out.Members, out.Why = g.of.Group, certain, ""
		if errors.Is(given, api.ErrConflict) { // the group's work has begun
			return out, nil
		}
		return out, &Doubt{Choice: certain[0], Err: given, Home: true}
	}
	out.Group, out.Members = g.of.Group, g.members
	return out, nil
}

// give moves the failed members to out. If the other members are not enough, it returns the reason.
// A member whose confirmation is in doubt stays a member: if it was not confirmed, its promise
// expires by itself.
func (g *grouping) give(out *GroupOutcome) string {
	var left, lost []Choice
	for i, c := range g.members {
		var doubt *Doubt
		if err := g.whys[i]; err != nil && !errors.As(err, &doubt) {
			out.Failed = append(out.Failed, Failure{c, err.Error()})
			lost = append(lost, c)
		} else {
			left = append(left, c)
		}
	}
	if g.o.Kind == api.GroupAll && slices.ContainsFunc(lost, missingIn(left)) {
		return "not all jobs are to be had"
	}
	if len(left) == 0 {
		return "none of the jobs is to be had"
	}
	g.members, g.whys = left, make([]error, len(left))
	return ""
}

// missingIn returns a function that reports whether none of the members left is of the part of c.
func missingIn(left []Choice) func(c Choice) bool {
	return func(c Choice) bool {
		return c.Part == 0 || !slices.ContainsFunc(left, func(l Choice) bool { return l.Part == c.Part })
	}
}

// certain returns the members that are known to be confirmed. doubt is about one of the others, or
// nil.
func (g *grouping) certain() (members []Choice, doubt *Doubt) {
	for i, c := range g.members {
		if g.whys[i] == nil {
			members = append(members, c)
		} else {
			errors.As(g.whys[i], &doubt)
		}
	}
	return members, doubt
}

// enough reports whether these members are a group without the others.
func (g *grouping) enough(members []Choice) bool {
	if g.o.Kind == api.GroupAll {
		return !slices.ContainsFunc(g.members, func(c Choice) bool {
			return !slices.ContainsFunc(members, func(m Choice) bool { return m.Plan.ID == c.Plan.ID }) && missingIn(members)(c)
		})
	}
	return len(members) > 0
}

// register registers the group with its home. If the home does not answer, register asks again for
// half of the time for which the promises wait.
func (g *grouping) register(ctx context.Context) (q api.GroupQuote, err error) {
	until := g.o.Now().Add(time.Duration(g.o.Tentative) * time.Second / 2)
	for {
		q, err = g.home.RegisterGroup(ctx, g.o.request(g.of.Group, g.members))
		if err == nil || api.Refused(err) || ctx.Err() != nil || g.o.Now().After(until) {
			return q, err
		}
		sleep(ctx, g.o.Pause)
	}
}

// release takes back the promises of all members.
func (g *grouping) release(ctx context.Context) {
	g.each(func(i int) error {
		if c := &g.members[i]; c.Plan != nil {
			g.o.release(ctx, g.sites[c.Site], c)
		}
		return nil
	})
}

// giveUp gives up a group of which some members may be confirmed: the home then makes the sites
// cancel their jobs. After an error the group may run. The error is api.ErrConflict if the group's
// work has begun. Otherwise the home does not answer; an incomplete group of the kind all then ends
// by itself, because not all of its jobs come.
func (g *grouping) giveUp(ctx context.Context) (err error) {
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	for {
		err = g.home.CancelGroup(giving, api.GroupCancellation{Group: g.of.Group})
		if err == nil || api.Refused(err) || giving.Err() != nil {
			break
		}
		sleep(giving, g.o.Pause)
	}
	g.release(ctx)
	if errors.Is(err, api.ErrNotFound) { // so the home lets nothing run
		return nil
	}
	return err
}
