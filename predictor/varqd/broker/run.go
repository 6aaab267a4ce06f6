package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Result is what a Request has come to.
type Result struct {
	// Sites is what all sites have said.
	Sites []Answer
	// Slots are those of a dry run of one job, best first.
	Slots []Choice
	// Outcome is that of one job, and Left the jobs that may be left of failed submissions.
	Outcome Outcome
	Left    []Left
	// Group is that of a group.
	Group GroupOutcome
}

// How Run tries slots.
const (
	maxTries     = 20
	confirmPause = 500 * time.Millisecond
)

// Run asks all sites at once, and reserves what the user prefers of what they offer. After an error
// that is a *Doubt nobody knows whether something is reserved; after any other nothing is. The Left
// of one job is also there after an error.
func Run(ctx context.Context, sites []Site, r Request) (result Result, err error) {
	asked := sites
	if r.Kind != "" {
		if err := r.require(ctx); err != nil {
			return result, err
		}
	}
	switch r.Kind {
	case api.GroupAny:
		r.race()
	case api.GroupAll:
		r.demand()
		asked = r.levelled(sites)
	}
	result.Sites = Probe(ctx, asked, r.Probe)
	o := Options{Prefer: r.Prefer, Tries: maxTries, Tentative: r.Patience, Pause: confirmPause, Now: r.Now}
	switch {
	case r.Kind != "":
		result.Group, err = r.group(ctx, sites, result.Sites, o)
	case r.DryRun:
		result.Slots = Rank(result.Sites, r.Prefer)
	default:
		result.Outcome, err = Reserve(ctx, sites, result.Sites, o)
		result.Left = left(ctx, sites)
	}
	return result, err
}

// require makes the probability of a request for a group the one that the home wants, unless the
// user has named one.
func (r *Request) require(ctx context.Context) error {
	if r.Prob != 0 {
		return nil
	}
	q, err := r.Home.QuoteGroup(ctx, api.GroupRequest{Kind: r.Kind, Deadline: r.Probe.Latest, Members: []api.GroupMember{{Prob: .5}}})
	r.Prob = q.Required
	return err
}

// group reserves a group, or tells what would be reserved.
func (r *Request) group(ctx context.Context, sites []Site, answers []Answer, o Options) (GroupOutcome, error) {
	chosen, why := r.choose(answers)
	group := GroupOptions{Options: o, Kind: r.Kind, Prob: r.Prob, HomeName: r.HomeName}
	switch {
	case len(chosen) == 0:
		return GroupOutcome{Kind: r.Kind, Home: r.HomeName, Why: why}, nil
	case r.DryRun:
		return QuoteGroup(ctx, r.Home, chosen, group)
	}
	members := make([]GroupSite, len(sites))
	for i, s := range sites {
		var can bool
		if members[i], can = s.(GroupSite); !can {
			return GroupOutcome{}, fmt.Errorf("cluster %s: its jobs cannot be members of a group", s.Name())
		}
	}
	return ReserveGroup(ctx, members, r.Home, chosen, group)
}

// choose returns the slots for the members of a group, or why there are none.
func (r *Request) choose(answers []Answer) (chosen []Choice, why string) {
	if r.Kind == api.GroupAny {
		return ChooseAny(answers, r.Prefer), noRacer(answers)
	}
	together := Together{Parts: r.Parts, Partitions: r.Apart, Prob: r.Prob, Prefer: r.Prefer}
	return together.Choose(answers), together.why(answers)
}
