package groups

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

const (
	// lead is how many seconds before their common begin the decision about all parts is made.
	// Until then every job has asked again, because jobs ask every second. A job that is cancelled
	// after the decision no longer stops the others. So the decision is not made sooner.
	lead = api.GroupLead
	// present is for how many seconds after its last question a job counts as present. A job that
	// asks no more has ended, or its node does not reach the home.
	present = 10
)

// claim decides whether the work of member i may begin now. The group is read and written in one
// transaction.
//
//   - any: the work of the first member that asks begins, and never that of another.
//   - all: one member of each part begins, at the same time, once two conditions are met. A member
//     of each part has asked within the last present seconds. And the deadline is at most lead
//     seconds away, or over. The first present member of a part is chosen. The group is given up if
//     the conditions are not met by api.GroupGrace seconds after its deadline.
//
// A member that asks again gets the same answer.
func claim(g *ledger.Group, i int, now int64) api.GateAnswer {
	m := &g.Members[i]
	switch {
	case g.Decided != 0:
	case m.Withdrawn:
		return api.GateAnswer{Answer: api.GateLost, Why: job(m) + " was cancelled"}
	case late(g, now):
		giveUp(g, now)
	default:
		m.Asked = now
		decide(g, now)
	}
	switch {
	case g.Decided == 0:
		return api.GateAnswer{Answer: api.GateWait}
	case m.Won:
		return api.GateAnswer{Answer: api.GateGo, At: g.Go}
	}
	return api.GateAnswer{Answer: api.GateLost, Why: why(g)}
}

// decide makes one member of each part win, if a member of each part is present.
func decide(g *ledger.Group, now int64) {
	if g.Kind == api.GroupAll && now < g.Deadline-lead {
		return
	}
	var winners []int
	for _, part := range g.Parts() {
		first := slices.IndexFunc(part, func(i int) bool {
			m := &g.Members[i]
			return m.Asked != 0 && m.Asked >= now-present && !m.Withdrawn
		})
		if first < 0 {
			return
		}
		winners = append(winners, part[first])
	}
	g.Decided = now
	for _, i := range winners {
		g.Members[i].Won = true
	}
	if g.Kind == api.GroupAll {
		g.Go = max(now+lead, g.Deadline)
	}
}

// withdraw notes that the job of member i was cancelled. If that leaves a part without a job, the
// group is given up. If the group has already decided that all begin, the work of the other members
// begins nevertheless, but the group counts as lost.
func withdraw(g *ledger.Group, i int, now int64) {
	if g.Decided != 0 {
		if g.Members[i].Won && g.Go != 0 {
			g.Members[i].Withdrawn, g.Lost = true, job(&g.Members[i])+" was cancelled"
		}
		return
	}
	g.Members[i].Withdrawn = true
	for _, part := range g.Parts() {
		var gone []string
		for _, i := range part {
			if m := &g.Members[i]; m.Withdrawn {
				gone = append(gone, job(m))
			}
		}
		if len(gone) == len(part) {
			g.Decided, g.Lost = now, list(gone)+was(gone)+" cancelled"
			return
		}
	}
}

// miss notes that the work of member i did not begin in time, although it was to begin together
// with the work of others.
func miss(g *ledger.Group, i int) {
	if g.Go != 0 && g.Members[i].Won && g.Lost == "" {
		g.Lost = "the work of " + job(&g.Members[i]) + " did not begin in time"
	}
}

// hold notes that the user of member i kept the member's job from starting until the deadline
// passed. It changes nothing if the group has succeeded nevertheless.
func hold(g *ledger.Group, i int, now int64) {
	if came, _ := outcome(g, now); !came {
		g.Members[i].Held = true
	}
}

func was(names []string) string {
	if len(names) == 1 {
		return " was"
	}
	return " were"
}

// late reports whether it is too late for the jobs of an undecided group to begin together.
func late(g *ledger.Group, now int64) bool {
	return g.Kind == api.GroupAll && g.Decided == 0 && now > g.Deadline+api.GroupGrace
}

// giveUp gives a group up if it is late.
func giveUp(g *ledger.Group, now int64) {
	if !late(g, now) {
		return
	}
	g.Decided = now
	for _, part := range g.Parts() {
		var missing []string
		for _, i := range part {
			if m := &g.Members[i]; m.Asked < g.Deadline+api.GroupGrace-present {
				missing = append(missing, job(m))
			}
		}
		switch {
		case len(missing) < len(part):
			continue
		case len(missing) == 1:
			g.Lost = missing[0] + " did not start in time"
		default:
			g.Lost = "none of " + list(missing) + " started in time"
		}
		return
	}
	g.Lost = "not all jobs started in time"
}

// why returns the reason why some members do not run.
func why(g *ledger.Group) string {
	if g.Lost != "" {
		return g.Lost
	}
	var winners []string
	for _, part := range g.Parts() {
		for _, i := range part {
			if m := &g.Members[i]; m.Won && len(part) > 1 {
				winners = append(winners, job(m))
			}
		}
	}
	switch {
	case g.Kind == api.GroupAny:
		return list(winners) + " started first"
	case len(winners) == 1:
		return winners[0] + " runs instead"
	}
	return list(winners) + " run instead"
}

// list joins several names.
func list(names []string) string {
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// job names the job of a member.
func job(m *ledger.Member) string {
	text := fmt.Sprintf("job %d", m.Job)
	if m.Site != "" {
		text += " at " + m.Site
	}
	return text
}

// state returns what others may know of a group.
func state(g *ledger.Group) api.GroupState {
	s := api.GroupState{Group: g.ID, Open: g.Decided == 0}
	for _, m := range g.Members {
		if m.Won {
			s.Winners = append(s.Winners, m.Plan)
		}
	}
	if len(s.Winners) > 0 {
		s.At = max(g.Decided, g.Go)
	}
	if !s.Open && len(s.Winners) < len(g.Members) {
		s.Why = why(g)
	}
	return s
}

// hear is for how many seconds after the deadline a site may still report that a job was cancelled
// before the deadline.
const hear = 600

// outcome reports whether a group has succeeded: one of its jobs, or one of each part, started in
// time. Two outcomes are known only when all sites have reported on their jobs: that the jobs of
// all parts began together, and that no job started.
func outcome(g *ledger.Group, now int64) (came, known bool) {
	told := now > max(g.Deadline, g.Go)+hear || g.Lost == givenUp || g.Decided != 0 && !foreseen(g)
	if g.Kind == api.GroupAll {
		return g.Go != 0 && g.Lost == "", told || g.Go != 0 && g.Lost != ""
	}
	came = g.Decided != 0 && g.Lost == "" && g.Decided <= g.Deadline
	return came, came || told
}

// State returns the state of a group's promise at the time now: api.StateKept, api.StateMissed,
// api.StateCancelled, or api.StatePending while the outcome is not known. It is cancelled if
// somebody has cancelled a job of the group, or has kept one from starting.
func State(g *ledger.Group, now int64) string {
	switch came, known := outcome(g, now); {
	case !known:
		return api.StatePending
	case came:
		return api.StateKept
	case !foreseen(g):
		return api.StateCancelled
	}
	return api.StateMissed
}

// foreseen reports whether forecasts are responsible for a group's outcome: nobody has cancelled a
// job of the group, or kept one from starting.
func foreseen(g *ledger.Group) bool {
	return g.Lost != givenUp && !slices.ContainsFunc(g.Members, func(m ledger.Member) bool { return m.Withdrawn || m.Held })
}
