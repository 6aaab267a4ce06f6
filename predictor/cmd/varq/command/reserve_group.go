package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

const (
	// leastMember is the least probability of a job of which one is enough.
	leastMember = .02
	// soonest is how many seconds ahead all jobs begin at the earliest: they have to be submitted
	// first.
	soonest = 30
	// waits is for how many seconds more than its work a job that begins together with others may
	// have its nodes: for as long as these wait for one another.
	waits = 60
)

// alternatives stands between clusters, or partitions, of which one will do for a part of --all-of.
const alternatives = "/"

// readGroup reads --any-of and --all-of.
func (f *reserveFlags) readGroup(r *reserveRequest, now int64) error {
	p := &r.probe
	switch {
	case f.AnyOf && f.AllOf:
		return errors.New("--any-of and --all-of exclude each other: of the jobs the first runs, or all do")
	case !f.AllOf && strings.Contains(f.Clusters+f.Partitions, alternatives):
		return errors.New("--clusters and --partitions have alternatives, with / between them, only of the parts of --all-of")
	case !f.AnyOf && !f.AllOf:
		return nil
	case p.Latest == 0 || p.FinishBy != 0:
		return errors.New("--any-of and --all-of need --latest, and not --finish-by: they are about when jobs start")
	case f.AnyOf && p.Earliest > now:
		return errors.New("--any-of has no --earliest: whichever job can start first is wanted")
	case f.AllOf && f.BestEffort:
		return errors.New("--all-of does not go together with --best-effort: the work of all jobs begins at the same time")
	}
	r.least, p.GroupProb = p.Prob, p.Prob
	if f.AnyOf {
		r.kind, p.Earliest, p.BestEffort, p.Prob, p.Slots = api.GroupAny, p.Latest, true, leastMember, 1
		return nil
	}
	r.kind, p.Earliest = api.GroupAll, max(p.Earliest, now+soonest)
	for part := range strings.SplitSeq(f.Clusters, ",") {
		r.parts = append(r.parts, strings.Split(part, alternatives))
	}
	if p.Latest < p.Earliest {
		return fmt.Errorf("--latest: it takes %d s to submit all jobs; give a later time", soonest)
	}
	return nil
}

// homeOf returns the site that keeps a group: the host's own if it is among the sites, else the
// first.
func homeOf(sites []*site) *site {
	return sites[max(0, slices.IndexFunc(sites, func(s *site) bool { return s.own }))]
}

// divide says which sites are alternatives of one another.
func (r *reserveRequest) divide(sites []*site) error {
	if r.kind != api.GroupAll {
		return nil
	}
	members := 0
	for _, part := range r.parts {
		members += len(part)
	}
	if members < len(sites) || members == 1 { // all, or one that need not be named
		r.parts = nil
		for _, s := range sites {
			r.parts = append(r.parts, []string{s.Name()})
		}
	}
	switch {
	case len(r.parts) > api.MaxGroupMembers:
		return fmt.Errorf("--all-of: %d parts are more than %d", len(r.parts), api.MaxGroupMembers)
	case len(r.parts) == 1 && (len(sites) > 1 || r.apart):
		return errors.New("--all-of has one part, of which one job runs: that is --any-of, with , between its clusters or partitions")
	}
	return nil
}

// prepare completes the request for a group, when the job is known.
func (r *reserveRequest) prepare(ctx context.Context, home *site, sites []*site) error {
	if r.kind != api.GroupAll {
		return nil
	}
	for i := range r.probe.Sizes {
		r.probe.Sizes[i].Limit += waits
	}
	if r.least == 0 { // what the home wants
		q, err := home.varqd.QuoteGroup(ctx, api.GroupRequest{Kind: r.kind, Deadline: r.probe.Latest, Members: []api.GroupMember{{Prob: .5}}})
		if err != nil {
			return err
		}
		r.least = q.Required
	}
	r.probe.GroupProb = r.least
	// Each part needs as much, of which its alternatives share the burden where none can carry it
	// alone.
	each := math.Pow(r.least, 1/float64(len(r.parts)))
	r.probe.Prob = each
	for _, part := range r.parts {
		jobs := len(part)
		if r.apart {
			jobs *= len(r.probe.Partitions)
		}
		share := 1 - math.Pow(1-each, 1/float64(jobs))
		r.probe.Prob = min(r.probe.Prob, share)
		for _, s := range sites {
			if slices.Contains(part, s.Name()) {
				s.asks = []float64{each}
				if jobs > 1 {
					s.asks = append(s.asks, (each+share)/2, share)
				}
			}
		}
	}
	return nil
}

// apartWhy says why there is no time at which all jobs of a group can run: some of its parts have
// no slot at all, or none that fits those of the others.
func (r *reserveRequest) apartWhy(answers []broker.Answer) string {
	for _, part := range r.parts {
		silent, offered := []string{}, false
		for i := range answers {
			a := &answers[i]
			if !slices.Contains(part, a.Site) {
				continue
			}
			offered = offered || len(a.Slots) > 0
			if a.Error != "" {
				silent = append(silent, a.Site)
			}
		}
		switch names := strings.Join(part, " or "); {
		case offered:
		case len(silent) == len(part):
			return fmt.Sprintf("a job is to run at %s, which has not answered as it should: try again once it does (varq sites tells), or leave it out of --clusters", names)
		default:
			return fmt.Sprintf("a job is to run at %s, which offers nothing: try a wider window, other partitions, or a lower --min-prob, or leave it out of --clusters", names)
		}
	}
	return "there is no time at which all sites offer enough: try a wider window, more --slots, or a lower --min-prob"
}

// reserveGroup reserves a group, or shows what would be.
func (e *Env) reserveGroup(ctx context.Context, r *reserveRequest, sites []*site, answers []broker.Answer, dryRun, asJSON bool) error {
	var chosen []broker.Choice
	why := "no site offers anything: try a later --latest, or other partitions or clusters"
	if r.kind == api.GroupAny {
		if chosen = broker.ChooseAny(answers, r.prefer); !slices.ContainsFunc(answers, func(a broker.Answer) bool { return a.Error == "" }) {
			why = "no site has answered as it should: try again once one does (varq sites tells)"
		}
	} else {
		together := broker.Together{Parts: r.parts, Partitions: r.apart, Prob: r.least, Prefer: r.prefer}
		chosen = together.Choose(answers)
		why = r.apartWhy(answers)
	}
	home := homeOf(sites)
	o := broker.GroupOptions{
		Options: broker.Options{Prefer: r.prefer, Tentative: r.patience, Pause: confirmPause, Now: time.Now},
		Kind:    r.kind, Prob: r.least, HomeName: home.order(),
	}
	out := broker.GroupOutcome{Kind: r.kind, Home: o.HomeName, Why: why}
	var err error
	switch {
	case len(chosen) == 0:
	case dryRun:
		out, err = broker.QuoteGroup(ctx, home.varqd, chosen, o)
	default:
		members := make([]broker.GroupSite, len(sites))
		for i, s := range sites {
			members[i] = s
		}
		out, err = broker.ReserveGroup(ctx, members, home.varqd, chosen, o)
	}
	if errors.Is(err, api.ErrInvalid) && strings.HasPrefix(err.Error(), "deadline: ") {
		return fmt.Errorf("--latest: %s has passed meanwhile: give a later time", e.Moment(r.probe.Latest))
	}
	if err != nil {
		return err
	}
	return e.showGroup(out, answers, dryRun, asJSON)
}

// showGroup tells what was reserved, or that nothing was.
func (e *Env) showGroup(out broker.GroupOutcome, answers []broker.Answer, dryRun, asJSON bool) error {
	if asJSON {
		err := cli.WriteJSON(e.Stdout, struct {
			broker.GroupOutcome
			Sites []broker.Answer `json:"sites"`
		}{out, answers})
		if err == nil && out.Why != "" {
			err = errNo
		}
		return err
	}
	describe := e.describeSlot
	if out.Kind == api.GroupAny {
		describe = e.describeRacer
	}
	for _, f := range out.Failed {
		fmt.Fprintf(e.Stderr, "varq: could not be had: %s: %s\n", describe(&f.Choice, answers), cli.Printable(slurmtime.InZone(f.Why, e.Zone)))
	}
	e.showProblems(answers)
	if out.Why != "" {
		fmt.Fprintf(e.Stderr, "varq: nothing is reserved: %s\n", cli.Printable(out.Why))
		return errNo
	}
	var l cli.Listing
	l.Width = len("together:")
	rule := "the first to start runs, the others are cancelled"
	parts := map[int]int{} // how many jobs each has
	for _, m := range out.Members {
		parts[m.Part]++
	}
	switch {
	case out.Kind == api.GroupAll && len(parts) < len(out.Members):
		rule = fmt.Sprintf("one of each of %d parts begins, all at the same time, or none does", len(parts))
	case out.Kind == api.GroupAll:
		rule = "all begin at the same time, or none does"
	}
	verb := "reserved:"
	if dryRun {
		verb = "possible:"
	}
	if len(out.Members) == 1 {
		rule = "no other is to be had"
	}
	l.Line(verb, "%s: %s", cli.Count(len(out.Members), "job", "jobs"), rule)
	for i := range out.Members {
		m := &out.Members[i]
		text := describe(m, answers)
		if m.Job != 0 {
			text = fmt.Sprintf("job %d: %s", m.Job, text)
		}
		if i > 0 && m.Part != 0 && m.Part == out.Members[i-1].Part {
			text = "or " + text
		}
		l.Line("", "%s", text)
	}
	q := out.Quote
	text := fmt.Sprintf("probability %s (forecast %s, lower bound %s; if the sites had nothing to do with one another %s", prob.Format(q.Required), prob.Format(q.Prob), prob.Format(q.Lower), prob.Format(q.Independent))
	if q.Unraised > 0 {
		text += "; without alternatives " + prob.Format(q.Unraised)
	}
	if q.Days > 0 {
		text += fmt.Sprintf("; their delays have correlation %.2f, over %.0f days", q.Correlation, q.Days)
	}
	l.Line("together:", "%s)", text)
	fmt.Fprint(e.Stdout, l.String())
	return nil
}
