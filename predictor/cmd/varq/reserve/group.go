package reserve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// alternatives stands between clusters, or partitions, of which one will do for a part of --all-of.
const alternatives = "/"

// readGroup reads --any-of and --all-of.
func (f *flags) readGroup(r *request, now int64) error {
	p := &r.Probe
	switch {
	case f.AnyOf && f.AllOf:
		return errors.New("--any-of does not go together with --all-of: of the jobs the first runs, or all do")
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
	r.Prob = p.Prob
	if f.AnyOf {
		r.Kind = api.GroupAny
		return nil
	}
	r.Kind, p.Earliest = api.GroupAll, max(p.Earliest, now+broker.Soonest)
	for part := range strings.SplitSeq(f.Clusters, ",") {
		r.Parts = append(r.Parts, strings.Split(part, alternatives))
	}
	if p.Latest < p.Earliest {
		return fmt.Errorf("--latest: it takes %d s to submit all jobs; give a later time", broker.Soonest)
	}
	return nil
}

// choose completes the request with the sites among which it is to choose.
func (r *request) choose(all []*sites.Site) error {
	if r.Kind == "" {
		return nil
	}
	if err := r.divide(all); err != nil {
		return err
	}
	for _, s := range all {
		if s.HasNoVarqd() {
			return fmt.Errorf("%s: cluster %s has no varqd, which would let its job begin or give up beside the others: leave it out of --clusters", groupOptions[r.Kind], s.Name())
		}
	}
	// the host's own keeps the group if it is among them, else the first
	home := all[max(0, slices.IndexFunc(all, func(s *sites.Site) bool { return s.Own }))]
	r.Home, r.HomeName = home.Varqd, home.Order()
	return nil
}

// groupOptions are the options that ask for groups, by their kinds.
var groupOptions = map[string]string{api.GroupAny: "--any-of", api.GroupAll: "--all-of"}

// divide says which sites are alternatives of one another.
func (r *request) divide(all []*sites.Site) error {
	if r.Kind != api.GroupAll {
		return nil
	}
	members := 0
	for _, part := range r.Parts {
		members += len(part)
	}
	if members < len(all) || members == 1 { // all, or one that need not be named
		r.Parts = nil
		for _, s := range all {
			r.Parts = append(r.Parts, []string{s.Name()})
		}
	}
	switch {
	case len(r.Parts) > api.MaxGroupMembers:
		return fmt.Errorf("--all-of: %d parts are more than %d", len(r.Parts), api.MaxGroupMembers)
	case len(r.Parts) == 1:
		return errors.New("--all-of has one part, of which one job runs: give several --clusters, with , between them; one job at the best of several places is --any-of")
	}
	return nil
}

// explain names the option of what is wrong with a group meanwhile.
func (r *request) explain(env *cli.Env, err error) error {
	if r.Kind != "" && errors.Is(err, api.ErrInvalid) && strings.HasPrefix(err.Error(), "deadline: ") {
		return fmt.Errorf("--latest: %s has passed meanwhile: give a later time", env.Moment(r.Probe.Latest))
	}
	return err
}
