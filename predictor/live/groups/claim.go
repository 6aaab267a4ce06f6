package groups

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

const (
	// lead is how many seconds before the work of all parts begins that is decided: until then each
	// has asked again, which they do every second. What becomes of a job later stops the others no
	// more, so it is not decided sooner.
	lead = api.GroupLead
	// present is for how many seconds a job that has asked counts as being there: then it has
	// ended, or its node does not reach the home.
	present = 10
)

// claim decides, of a group that is read and written at once, whether the work of member i may
// begin now:
//
//   - any: that of the first member that asks does, and of no other ever.
//   - all: once of each part a member has asked within the last present seconds, but not before the
//     deadline is lead seconds away, one of each begins, at the same time: the first of the part's
//     members that are there. A group of which that is not so api.GroupGrace seconds after its
//     deadline is given up.
//
// Who asks again gets the same answer.
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

// decide has one member of each part win, if each has one that is there.
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

// withdraw notes that the job of member i was cancelled. A group of which that leaves a part
// without a job is given up. If the work of all is to begin, that of the others does; but they were
// not together.
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

// miss notes that the work of member i, which was to begin together with that of others, did not
// begin in time.
func miss(g *ledger.Group, i int) {
	if g.Go != 0 && g.Members[i].Won && g.Lost == "" {
		g.Lost = "the work of " + job(&g.Members[i]) + " did not begin in time"
	}
}

// hold notes that the user of member i had kept its job from starting when the deadline passed. If
// the group has come true nevertheless, that does not matter.
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

// late reports whether a group whose jobs are to begin together is not decided and will not be.
func late(g *ledger.Group, now int64) bool {
	return g.Kind == api.GroupAll && g.Decided == 0 && now > g.Deadline+api.GroupGrace
}

// giveUp gives a group up that is late.
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

// why says why members do not run.
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

// list names several things.
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

// state returns what is told of a group.
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

// hear is for how many seconds after the deadline a site may tell that a job was cancelled before.
const hear = 600

// outcome reports whether a group has succeeded: one of its jobs, or one of each part, started in
// time. That jobs were together, and that none started, is known only when all sites have told of
// their jobs.
func outcome(g *ledger.Group, now int64) (came, known bool) {
	told := now > max(g.Deadline, g.Go)+hear || g.Lost == givenUp || g.Decided != 0 && !foreseen(g)
	if g.Kind == api.GroupAll {
		return g.Go != 0 && g.Lost == "", told || g.Go != 0 && g.Lost != ""
	}
	came = g.Decided != 0 && g.Lost == "" && g.Decided <= g.Deadline
	return came, came || told
}

// State returns the state of the promise that a group is, as of now: api.StateKept,
// api.StateMissed, api.StateCancelled if somebody has cancelled a job of it or has kept it from
// starting, or api.StatePending while that is not known.
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

// foreseen reports whether what became of a group is for the forecasts to answer for: nobody has
// cancelled a job of it, or has kept it from starting.
func foreseen(g *ledger.Group) bool {
	return g.Lost != givenUp && !slices.ContainsFunc(g.Members, func(m ledger.Member) bool { return m.Withdrawn || m.Held })
}
