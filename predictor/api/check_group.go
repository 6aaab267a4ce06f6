package api

import "fmt"

// Check returns what is wrong with the request of a group: Mistakes, or nil.
func (r *GroupRequest) Check() error {
	var c checker
	r.check(&c)
	c.group(r.ID)
	plans := map[string]bool{}
	for i := range r.Members {
		m := &r.Members[i]
		c.plan(m.Plan)
		c.jobID(m.Job)
		c.wrong(plans[m.Plan], "members", "%.20s is there twice", m.Plan)
		plans[m.Plan] = true
	}
	return c.err()
}

// CheckQuote is Check, but for what a quote does without.
func (r *GroupRequest) CheckQuote() error {
	var c checker
	r.check(&c)
	return c.err()
}

func (r *GroupRequest) check(c *checker) {
	c.wrong(r.Kind != GroupAny && r.Kind != GroupAll, "kind", "%.40q is neither any nor all", r.Kind)
	c.moment("deadline", r.Deadline)
	c.probability("prob", r.Prob)
	c.between("members", int64(len(r.Members)), 1, MaxGroupMembers)
	for i := range r.Members {
		m := &r.Members[i]
		c.site("members.site", m.Site)
		c.between("members.part", int64(m.Part), 0, MaxGroupMembers)
		c.odd(m.Part > 0 && r.Kind == GroupAny, "members.part", "does not go together with kind any: all members are alternatives")
		c.wrong(!inside(m.Prob), "members.prob", "%v is not a probability between 0 and 1", m.Prob)
		c.name("members.partition", m.Partition)
	}
}

// Check returns what is wrong with the cancellation: Mistakes, or nil.
func (r *GroupCancellation) Check() error {
	var c checker
	c.group(r.Group)
	return c.err()
}

// Check returns what is wrong with the question of a node: Mistakes, or nil.
func (g *Gate) Check() error { return checkJobOfPlan(g.Plan, g.Job) }

// Check returns what is wrong with the claim: Mistakes, or nil.
func (r *GroupClaim) Check() error {
	var c checker
	c.group(r.Group)
	c.odd(r.User == "", "user", "is missing")
	c.name("user", r.User)
	c.promise("promise", &r.Promise)
	c.plan(r.Plan)
	c.jobID(r.Job)
	return c.err()
}

// Check returns what is wrong with the question about groups: Mistakes, or nil.
func (q *GroupsQuery) Check() error {
	var c checker
	c.wrong(len(q.Groups) > MaxGroupsAsked, "groups", "%d are more than %d", len(q.Groups), MaxGroupsAsked)
	for _, id := range q.Groups {
		c.group(id)
	}
	c.wrong(len(q.Promises) > MaxGroupsAsked, "promises", "%d are more than %d", len(q.Promises), MaxGroupsAsked)
	for i := range q.Promises {
		c.promise(Field(fmt.Sprintf("promises[%d]", i)), &q.Promises[i])
	}
	return c.err()
}

// promise checks what is said of a member's promise.
func (c *checker) promise(field Field, p *MemberPromise) {
	below := func(p float64) bool { return p >= 0 && p < 1 }
	c.wrong(!below(p.Prob), field+".prob", "%v is not a probability below 1", p.Prob)
	c.wrong(!below(p.GroupProb), field+".group_prob", "%v is not a probability below 1", p.GroupProb)
}
