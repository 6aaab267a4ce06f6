package keeper

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// homesState is what the homes of groups have said, and have been told. A crash loses it; then the
// homes are asked again.
type homesState struct {
	mu    sync.Mutex
	fates map[string]api.GroupState // by group: what its home has said last
	homes map[string]silence        // by name: homes of groups that do not answer
	// reports that homes have received, and until when they need not be repeated
	told map[api.GroupClaim]int64
	asks map[string]question // by plan
}

func newHomesState() *homesState {
	return &homesState{
		fates: map[string]api.GroupState{},
		homes: map[string]silence{},
		told:  map[api.GroupClaim]int64{},
		asks:  map[string]question{},
	}
}

// retain forgets the groups that have no member in open.
func (h *homesState) retain(open []ledger.Entry) {
	plans, groups := map[string]bool{}, map[string]bool{}
	for i := range open {
		if e := &open[i]; e.Group != "" {
			plans[e.ID], groups[e.Group] = true, true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.asks, func(plan string, _ question) bool { return !plans[plan] })
	maps.DeleteFunc(h.fates, func(group string, _ api.GroupState) bool { return !groups[group] })
}

// question is the last question of a job whether its work may begin.
type question struct {
	at    int64 // time of the question, or of the first call of askedLast
	heard bool
}

// asked notes that the job of a plan asks whether its work may begin.
func (h *homesState) asked(plan string, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks[plan] = question{now, true}
}

// askedLast returns when the job of a plan has last asked. If it has never asked, the time is that
// of the first call of askedLast.
func (h *homesState) askedLast(plan string, now int64) (last int64, never bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, known := h.asks[plan]
	if !known {
		a.at = now
		h.asks[plan] = a
	}
	return a.at, !a.heard
}

// silence is since when a home has not answered, and when it is asked again, Unix seconds.
type silence struct{ since, again int64 }

// heardHome notes what a home has said of groups, or that it has not answered.
func (h *homesState) heardHome(a *homeAnswer, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.err != nil {
		h.homes[a.home] = silence{since: cmp.Or(h.homes[a.home].since, now), again: now + homePause}
		return
	}
	delete(h.homes, a.home)
	for _, group := range a.groups {
		h.fates[group] = api.GroupState{Group: group, Why: "the cluster that keeps the group does not know it"}
	}
	for _, state := range a.states {
		if slices.Contains(a.groups, state.Group) {
			h.fates[state.Group] = state
		}
	}
}

// homeTold reports whether the home of a group has received a report.
func (h *homesState) homeTold(what api.GroupClaim) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, told := h.told[what]
	return told
}

// toldHome notes that the home of a group has received a report. The note is kept until a time.
func (h *homesState) toldHome(what api.GroupClaim, until int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[what] = until
}

// forgetTold forgets the reports whose time is over.
func (h *homesState) forgetTold(now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.told, func(_ api.GroupClaim, until int64) bool { return until < now })
}

// homePaused reports whether a home has not answered lately, so that it is not asked now.
func (h *homesState) homePaused(home string, now int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now < h.homes[home].again
}

// fateKnown reports whether the home has answered about e's group when it was asked last, or counts
// as gone for good.
func (h *homesState) fateKnown(e *ledger.Entry, now int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	silent, isSilent := h.homes[e.Home]
	_, known := h.fates[e.Group]
	return known && !isSilent || isSilent && now-silent.since > homeLost
}

// fate returns the decision about the job of e, by the last answer of its group's home.
func (h *homesState) fate(e *ledger.Entry, now int64) api.GateAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if silent, ok := h.homes[e.Home]; ok && now-silent.since > homeLost {
		return api.GateAnswer{Answer: api.GateLost, Why: "the cluster that keeps the group has not answered for a day"}
	}
	switch state, known := h.fates[e.Group]; {
	case !known, state.Open:
		return api.GateAnswer{Answer: api.GateWait}
	case state.Won(e.ID):
		return api.GateAnswer{Answer: api.GateGo, At: state.At}
	default:
		return api.GateAnswer{Answer: api.GateLost, Why: state.Why}
	}
}
