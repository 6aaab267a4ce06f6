package api

import (
	"fmt"

	"github.com/varq-project/varq/predictor/prob"
)

// A group has several members: jobs at several sites, or in several partitions of one, each with a
// promise of its own. Of those of the kind GroupAny one job's work runs, that of the job which
// starts first; of those of the kind GroupAll all do, at the same time, or none does. Members of
// one part are alternatives: of these one job's work runs. One site's varqd, the home of the group,
// keeps it. Before the work of a member begins, its node asks its own site's varqd (PathGate), and
// that asks the home (PathClaim).

// The kinds of groups.
const (
	GroupAny = "any"
	GroupAll = "all"
)

// Bounds of groups.
const (
	MaxGroupMembers = 16
	MaxGroups       = 100  // of one user, that are open
	MaxGroupsAsked  = 1000 // by one GroupsQuery
)

// GroupGrace is for how many seconds after their common start the members of a group of the kind
// GroupAll wait for one another. Their nodes idle meanwhile.
const GroupGrace = 30

// GroupLead is how many seconds before the work of the members of such a group begins that is
// decided, at most.
const GroupLead = 5

// LatestGo returns when the work of such a group begins at the latest, whose jobs are to begin it
// at a time, Unix seconds.
func LatestGo(begin int64) int64 { return begin + GroupGrace + GroupLead }

// GroupMember is a member of a group.
type GroupMember struct {
	// Site is the name of the member's cluster.
	Site      string `json:"site"`
	Partition string `json:"partition,omitempty"`
	// Part is which part of a group of the kind GroupAll the member is of, from 1 on: of members of
	// the same part one runs, together with one of each other part. 0 stands for a part of its own.
	Part int `json:"part,omitempty"`
	// Plan is the member's promise, and Job its job. A quote needs neither.
	Plan string `json:"plan,omitempty"`
	Job  int64  `json:"job,omitempty"`
	// Prob is the forecast of its site that it starts by the group's deadline, MostMemberProb at
	// most.
	Prob float64 `json:"prob"`
}

// MostMemberProb is the greatest probability of a member: nothing is certain.
const MostMemberProb = .9999

// MemberPromise is what a site's varqd has promised of a job that is a member of a group. Whatever
// else the group says of it is not so, and the group is given up.
type MemberPromise struct {
	Plan string `json:"plan"`
	// Prob is that of GroupMember, and GroupProb the probability that the site lets the group have,
	// as in Plan. 0 is not known.
	Prob      float64 `json:"prob"`
	GroupProb float64 `json:"group_prob"`
}

// GroupRequest asks for a group, or for its probability.
type GroupRequest struct {
	// ID is the group's identifier, which NewPlanID has made. A quote needs none.
	ID   string `json:"id,omitempty"`
	Kind string `json:"kind"`
	// Deadline is by when one of the jobs is to start. Of the kind GroupAll it is when all are.
	Deadline int64 `json:"deadline"`
	// Prob is the least probability that will do; 0 stands for the home's default.
	Prob    float64       `json:"prob,omitempty"`
	Members []GroupMember `json:"members"`
}

// GroupQuote is with what probability a group succeeds.
type GroupQuote struct {
	// Independent is the probability if the members' starts had nothing to do with one another:
	// 1-prod(1-p) or prod p. Of parts with alternatives it is the product of the parts'
	// 1-prod(1-p). Joint allows for the correlation of the sites' delays.
	Independent float64 `json:"independent"`
	Joint       float64 `json:"joint"`
	// Prob is Joint recalibrated by what came of earlier groups: the forecast. Lower is a lower
	// bound of confidence .95.
	Prob  float64 `json:"prob"`
	Lower float64 `json:"lower"`
	// Unraised is what Prob would be if each part had its most probable member alone; 0 if no part
	// has alternatives.
	Unraised float64 `json:"unraised,omitempty"`
	// Correlation is the strongest of those reckoned with, and Days on how many days it was
	// measured.
	Correlation float64 `json:"correlation"`
	Days        float64 `json:"days"`
	// Required is the least probability that will do: that of the request, or the home's default.
	// It is what is promised.
	Required float64 `json:"required"`
}

// Lacks says that Prob is less than Required, and what may help, a clause without a full stop; ""
// if it is not.
func (q *GroupQuote) Lacks() string {
	if q.Prob >= q.Required {
		return ""
	}
	has, needs := prob.Beside(q.Prob, q.Required)
	return fmt.Sprintf("together the jobs have probability %s, less than %s: try a later --latest, more --clusters of which one will do, or a lower --min-prob", has, needs)
}

// GroupCancellation gives a group up: no work begins any more that has not begun, and all jobs are
// cancelled. Only its user may.
type GroupCancellation struct {
	Group string `json:"group"`
}

// Gate asks whether the work of a job may begin. The job's user asks, on its node.
type Gate struct {
	Plan string `json:"plan"`
	Job  int64  `json:"job"`
}

// The values of GateAnswer.Answer.
const (
	GateGo   = "go"   // the work begins
	GateWait = "wait" // ask again in a second
	GateLost = "lost" // the work must not run: its job is to be cancelled
)

// GateAnswer says whether work may begin. Who has been answered GateGo is so again; after GateLost
// nothing else comes.
type GateAnswer struct {
	Answer string `json:"answer"`
	// At is when the work begins, with GateGo; 0 is at once. It is no later than LatestGo of the
	// member's deadline.
	At int64 `json:"at,omitempty"`
	// Why says why the work must not run, with GateLost: a clause without a full stop. Of what is
	// longer than MostWhy, only the beginning is told.
	Why string `json:"why,omitempty"`
}

// MostWhy bounds what a home says of why work must not run, in bytes.
const MostWhy = 500

// GroupClaim asks the home of a group whether the work of a member may begin. The varqd of the
// member's site asks, or the user herself.
type GroupClaim struct {
	Group string `json:"group"`
	Plan  string `json:"plan"`
	Job   int64  `json:"job"`
	// User is whose the member's job is.
	User string `json:"user"`
	// Withdrawn tells instead that the job was cancelled, and will not ask; Missed that its work
	// did not begin in time although the home had let it; Held that its user had kept it from
	// starting when the deadline passed. That one may still ask.
	Withdrawn bool `json:"withdrawn,omitempty"`
	Missed    bool `json:"missed,omitempty"`
	Held      bool `json:"held,omitempty"`
	// Promise is that of the member, if its site's varqd asks.
	Promise MemberPromise `json:"promise,omitzero"`
}

// GroupsQuery asks the home of groups what has become of them. Another site's varqd asks, or their
// user.
type GroupsQuery struct {
	Groups []string `json:"groups"`
	// Members asks for the groups' members, too.
	Members bool `json:"members,omitempty"`
	// Promises are those of the members at the site whose varqd asks.
	Promises []MemberPromise `json:"promises,omitempty"`
}

// GroupState is what has become of a group.
type GroupState struct {
	Group string `json:"group"`
	// Open is true while nothing is decided.
	Open bool `json:"open"`
	// Winners are the plans of the members whose work runs, or has run. All others are lost if the
	// group is not open.
	Winners []string `json:"winners,omitempty"`
	// At is when their work begins, or has begun at the earliest; 0 if there are none.
	At int64 `json:"at,omitempty"`
	// Why says why the others are lost: a clause without a full stop.
	Why string `json:"why,omitempty"`
	// Kind, Deadline, Prob and Estimate, which are those of its promise, and Members are told if
	// Members are asked for. Prob is what was promised, and Estimate what was forecast then.
	Kind     string        `json:"kind,omitempty"`
	Deadline int64         `json:"deadline,omitempty"`
	Prob     float64       `json:"prob,omitempty"`
	Estimate float64       `json:"estimate,omitempty"`
	Members  []GroupMember `json:"members,omitempty"`
}

// Won reports whether the work of a plan's job may run.
func (s *GroupState) Won(plan string) bool {
	for _, w := range s.Winners {
		if w == plan {
			return true
		}
	}
	return false
}
