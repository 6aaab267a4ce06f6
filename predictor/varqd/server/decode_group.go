package server

import (
	"regexp"

	"github.com/varq-project/varq/predictor/api"
)

// siteName is what a cluster may be called; see package config.
var siteName = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]{0,39}$`)

// checkHome checks of which group a promise is to be a member.
func checkHome(req *api.PlanRequest) error {
	switch {
	case req.Group == "" && req.Home == "":
		return nil
	case !api.ValidPlanID(req.Group):
		return field("group", "%.40q is not the identifier of a group", req.Group)
	case req.Home != "" && !siteName.MatchString(req.Home):
		return field("home", "%.40q is not the name of a site", req.Home)
	case req.Tentative == 0:
		return field("group", "makes no sense without tentative: a member of a group is confirmed once the group is known")
	}
	return nil
}

func decodeGate(body []byte) (*api.Gate, error) {
	g, err := decode[api.Gate](body)
	if err != nil {
		return nil, err
	}
	return g, checkJobOfPlan(g.Plan, g.Job)
}

func decodeClaim(body []byte) (*api.GroupClaim, error) {
	c, err := decode[api.GroupClaim](body)
	if err != nil {
		return nil, err
	}
	if err := checkGroupID(c.Group); err != nil {
		return nil, err
	}
	if c.User == "" {
		return nil, field("user", "is missing")
	}
	if err := checkName("user", c.User); err != nil {
		return nil, err
	}
	if err := checkPromise("promise", c.Promise); err != nil {
		return nil, err
	}
	return c, checkJobOfPlan(c.Plan, c.Job)
}

// checkPromise returns an error if what is said of a member is not a promise. name is that of the
// field.
func checkPromise(name string, p api.MemberPromise) error {
	for _, f := range []struct {
		name string
		prob float64
	}{{"prob", p.Prob}, {"group_prob", p.GroupProb}} {
		if !(f.prob >= 0 && f.prob < 1) {
			return field(name+"."+f.name, "%v is not a probability below 1", f.prob)
		}
	}
	return nil
}

func decodeGroupCancellation(body []byte) (*api.GroupCancellation, error) {
	c, err := decode[api.GroupCancellation](body)
	if err != nil {
		return nil, err
	}
	return c, checkGroupID(c.Group)
}

func decodeGroups(body []byte) (*api.GroupsQuery, error) {
	q, err := decode[api.GroupsQuery](body)
	if err != nil {
		return nil, err
	}
	if len(q.Groups) > api.MaxGroupsAsked {
		return nil, field("groups", "%d are more than %d", len(q.Groups), api.MaxGroupsAsked)
	}
	for _, id := range q.Groups {
		if err := checkGroupID(id); err != nil {
			return nil, err
		}
	}
	if len(q.Promises) > api.MaxGroupsAsked {
		return nil, field("promises", "%d are more than %d", len(q.Promises), api.MaxGroupsAsked)
	}
	for _, p := range q.Promises {
		if err := checkPromise("promises", p); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func decodeGroup(body []byte) (*api.GroupRequest, error) {
	r, err := decodeGroupQuote(body)
	if err != nil {
		return nil, err
	}
	if err := checkGroupID(r.ID); err != nil {
		return nil, err
	}
	plans := map[string]bool{}
	for i := range r.Members {
		m := &r.Members[i]
		if err := checkJobOfPlan(m.Plan, m.Job); err != nil {
			return nil, err
		}
		if plans[m.Plan] {
			return nil, field("members", "%s is there twice", m.Plan)
		}
		plans[m.Plan] = true
	}
	return r, nil
}

// decodeGroupQuote reads and checks a group, but not what a quote does without.
func decodeGroupQuote(body []byte) (*api.GroupRequest, error) {
	r, err := decode[api.GroupRequest](body)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Kind != api.GroupAny && r.Kind != api.GroupAll:
		return nil, field("kind", "%.40q is neither any nor all", r.Kind)
	case r.Deadline <= 0 || r.Deadline > maxTime:
		return nil, field("deadline", "%d is not a time", r.Deadline)
	case r.Prob != 0 && !(r.Prob > 0 && r.Prob < 1):
		return nil, field("prob", "%v does not lie between 0 and 1", r.Prob)
	case len(r.Members) == 0 || len(r.Members) > api.MaxGroupMembers:
		return nil, field("members", "%d are not between 1 and %d", len(r.Members), api.MaxGroupMembers)
	}
	for i := range r.Members {
		m := &r.Members[i]
		switch {
		case m.Site != "" && !siteName.MatchString(m.Site):
			return nil, field("members.site", "%.40q is not the name of a site", m.Site)
		case m.Part < 0 || m.Part > api.MaxGroupMembers:
			return nil, field("members.part", "%d is not between 0 and %d", m.Part, api.MaxGroupMembers)
		case m.Part != 0 && r.Kind == api.GroupAny:
			return nil, field("members.part", "makes no sense with kind any: all members are alternatives")
		case !(m.Prob > 0 && m.Prob < 1):
			return nil, field("members.prob", "%v does not lie between 0 and 1", m.Prob)
		}
		if err := checkName("members.partition", m.Partition); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func checkGroupID(id string) error {
	if !api.ValidPlanID(id) {
		return field("group", "%.40q is not the identifier of a group", id)
	}
	return nil
}
