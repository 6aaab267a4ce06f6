package keeper

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// retryAfter is how many seconds the keeper waits before it repeats, for one reservation,
// a call that Slurm or the ledger has refused or failed.
const retryAfter = 60

// retryUnanswered is that for a call that Slurm has not answered. It gives other reservations their turn: Watch stops there.
const retryUnanswered = 5

// maxExpired is the greatest number of plans that one Watch closes because no job has taken
// them up. The others wait for the next Watch, so that none holds the lock for long.
const maxExpired = 1000

// memory holds what the keeper knows of open reservations and does not write into the
// ledger. A crash loses it. The next Watch then computes the forecasts and counts again,
// and retries what failed without waiting for retryAfter.
type memory struct {
	mu        sync.Mutex
	forecasts map[string]float64        // by plan: the latest probability of a start by BeginBy
	obstacles map[string]obstacle       // by plan with a forecast of 0: why it is 0
	retry     map[string]int64          // by plan: when to try again
	unclaimed []*ledger.Entry           // open plans without a job, as Watch has read them
	rescues   map[string]rescue         // by plan: what would keep an endangered promise
	warned    map[string]warning        // by plan
	later     map[string]int64          // by plan: by when an endangered job ends with the probability promised
	changed   map[string]int64          // by plan: when its job was changed, outside Watch
	fates     map[string]api.GroupState // by group: what its home has said last
	homes     map[string]silence        // by name: homes of groups that do not answer
	told      map[api.GroupClaim]int64  // what homes of groups have been told, and until when they need not be told again
	asks      map[string]question       // by plan
	absent    map[string]int64          // by plan: since when the queue has not shown its job
	// lastRead has, for each urgency, the job that was read last.
	lastRead [urgencies]int64
	// forgotten is when the ledger was last made to forget what no job has taken up.
	forgotten int64
	// listingFrom is the time from which on accounting is asked for several jobs at once, because
	// that has failed.
	listingFrom int64
	// limitsFixedUntil is the time until which time limits are not changed, because Slurm
	// has not let varqd act as a job's owner.
	limitsFixedUntil int64
}

func newMemory() memory {
	return memory{forecasts: map[string]float64{}, obstacles: map[string]obstacle{}, retry: map[string]int64{}, rescues: map[string]rescue{}, later: map[string]int64{}, warned: map[string]warning{}, changed: map[string]int64{}, fates: map[string]api.GroupState{}, homes: map[string]silence{}, told: map[api.GroupClaim]int64{}, absent: map[string]int64{}, asks: map[string]question{}}
}

// retain forgets the reservations that are not in open, and notes those without a job.
func (m *memory) retain(open []ledger.Entry) {
	isOpen := make(map[string]bool, len(open))
	groups := map[string]bool{}
	var unclaimed []*ledger.Entry
	for i := range open {
		isOpen[open[i].ID] = true
		groups[open[i].Group] = true
		if open[i].Job == 0 {
			unclaimed = append(unclaimed, &open[i])
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unclaimed = unclaimed
	keepOnly(m.forecasts, isOpen)
	keepOnly(m.obstacles, isOpen)
	keepOnly(m.retry, isOpen)
	keepOnly(m.rescues, isOpen)
	keepOnly(m.later, isOpen)
	keepOnly(m.warned, isOpen)
	keepOnly(m.changed, isOpen)
	keepOnly(m.absent, isOpen)
	keepOnly(m.asks, isOpen)
	keepOnly(m.fates, groups)
}

// keepOnly deletes the plans that are not in open.
func keepOnly[V any](byPlan map[string]V, open map[string]bool) {
	maps.DeleteFunc(byPlan, func(plan string, _ V) bool { return !open[plan] })
}

// takeExpired returns the plans without a job that are expired, at most maxExpired. Until
// retain is called again, it then returns none.
func (m *memory) takeExpired(expired func(*ledger.Entry) bool) (plans []*ledger.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.unclaimed {
		if e.Open && e.Job == 0 && expired(e) && len(plans) < maxExpired {
			plans = append(plans, e)
		}
	}
	m.unclaimed = nil
	return plans
}

// setForecast notes how likely plan's promise is to be kept, and why not at all if prob is 0.
func (m *memory) setForecast(plan string, prob float64, why obstacle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forecasts[plan] = prob
	if why == (obstacle{}) {
		delete(m.obstacles, plan)
	} else {
		m.obstacles[plan] = why
	}
}

// forget notes that it is not known how likely plan's promise is to be kept, nor what would keep it.
func (m *memory) forget(plan string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.forecasts, plan)
	delete(m.obstacles, plan)
	delete(m.rescues, plan)
	delete(m.later, plan)
}

// forecast returns the last probability that setForecast was given for plan, or 0.
func (m *memory) forecast(plan string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.forecasts[plan]
}

// obstacle returns why the latest forecast for plan is 0, if it is.
func (m *memory) obstacle(plan string) obstacle {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.obstacles[plan]
}

// forecastKnown reports whether setForecast was called for plan.
func (m *memory) forecastKnown(plan string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.forecasts[plan]
	return ok
}

// postpone makes postponed true for plan during the next retryAfter seconds.
func (m *memory) postpone(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retry[plan] = now + retryAfter
}

// postponeAfter is postpone after a call that has failed with err by now, which is for retryUnanswered seconds only if Slurm has
// not answered.
func (m *memory) postponeAfter(err error, plan string, now int64) {
	if errors.Is(err, slurm.ErrUnavailable) {
		now += retryUnanswered - retryAfter
	}
	m.postpone(plan, now)
}

// postponed reports whether a call that failed for plan is not to be repeated yet.
func (m *memory) postponed(plan string, now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now < m.retry[plan]
}

// retryNow makes postponed false for plan.
func (m *memory) retryNow(plan string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.retry, plan)
}

// question is the last one of a job whether its work may begin.
type question struct {
	at    int64 // or when it was first looked for
	heard bool
}

// asked notes that the job of a plan asks whether its work may begin.
func (m *memory) asked(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks[plan] = question{now, true}
}

// askedLast returns when the job of a plan has last asked. One that never has counts as having asked when this was first called.
func (m *memory) askedLast(plan string, now int64) (last int64, never bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, known := m.asks[plan]
	if !known {
		a.at = now
		m.asks[plan] = a
	}
	return a.at, !a.heard
}

// absentSince returns since when the queue has not shown the job of a plan: from now on if it is new.
func (m *memory) absentSince(plan string, now int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.absent[plan] == 0 {
		m.absent[plan] = now
	}
	return m.absent[plan]
}

// changeNow notes that the job of plan is changed outside Watch.
func (m *memory) changeNow(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed[plan] = now
}

// changedSince reports whether changeNow was called for plan at the time t or later. Times are no
// more exact than skew.
func (m *memory) changedSince(plan string, t int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.changed[plan]
	return ok && t <= at+skew
}

// inTurn sorts entries of an urgency by their jobs, and begins with the one that follows the one that hadTurn last.
func (m *memory) inTurn(u urgency, entries []ledger.Entry) []ledger.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Job, b.Job) })
	first := max(0, slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Job > m.lastRead[u] }))
	return slices.Concat(entries[first:], entries[:first])
}

// hadTurn notes that the job of an entry of an urgency was read.
func (m *memory) hadTurn(u urgency, job int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastRead[u] = job
}

// forgetEvery is how many seconds after another the ledger is made to forget what no job has taken
// up.
const forgetEvery = 60

// forgets reports whether the ledger is to forget now what no job has taken up.
func (m *memory) forgets(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now < m.forgotten+forgetEvery {
		return false
	}
	m.forgotten = now
	return true
}

// stopListing makes listing false for a while: half as long as a job is not asked for that accounting
// cannot tell of, so that the next list does without that job.
func (m *memory) stopListing(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listingFrom = now + retryAfter/2
}

// listing reports whether accounting is asked for several jobs at once.
func (m *memory) listing(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now >= m.listingFrom
}

// limitsFixedFor is how many seconds the keeper leaves time limits alone after Slurm has not let
// it act as a job's owner.
const limitsFixedFor = 600

// fixLimits makes limitsFixed true for the next limitsFixedFor seconds.
func (m *memory) fixLimits(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limitsFixedUntil = now + limitsFixedFor
}

// limitsFixed reports whether time limits are left alone.
func (m *memory) limitsFixed(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now < m.limitsFixedUntil
}

// warning is what the user knows of a promise's danger.
type warning struct {
	told bool  // that it is endangered
	safe int64 // since when it no longer is, Unix seconds; 0 while it is
}

// calm is for how many seconds a promise must have been safe before that is told, so that a forecast that wavers is
// told of once.
const calm = 300

// endangered notes whether plan's promise is endangered now, and reports whether that is to be told.
func (m *memory) endangered(plan string, is bool, now int64) (tell bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.warned[plan]
	switch {
	case is:
		tell, w = !w.told, warning{told: true}
	case w.told && w.safe == 0:
		w.safe = now
	case w.told && now-w.safe >= calm:
		tell, w = true, warning{}
	}
	m.warned[plan] = w
	return tell
}

// setLater notes by when plan's job ends with the probability promised, Unix seconds; 0 if it does by the deadline, or at no time.
func (m *memory) setLater(plan string, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later[plan] = at
}

// laterEnd returns what setLater was given for plan last, or 0.
func (m *memory) laterEnd(plan string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.later[plan]
}

// setRescue notes what would keep plan's promise; nil stands for nothing.
func (m *memory) setRescue(plan string, r *rescue) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r == nil {
		delete(m.rescues, plan)
	} else {
		m.rescues[plan] = *r
	}
}

// rescue returns what would keep plan's promise. It reports false if nothing would, or if
// nothing is needed.
func (m *memory) rescue(plan string) (rescue, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rescues[plan]
	return r, ok
}

// silence is since when a home has not answered, and when it is asked again, Unix seconds.
type silence struct{ since, again int64 }

// heardHome notes what a home has said of groups, or that it has not answered.
func (m *memory) heardHome(a *homeAnswer, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.err != nil {
		m.homes[a.home] = silence{since: cmp.Or(m.homes[a.home].since, now), again: now + homePause}
		return
	}
	delete(m.homes, a.home)
	for _, group := range a.groups {
		m.fates[group] = api.GroupState{Group: group, Why: "the site that keeps the group does not know it"}
	}
	for _, state := range a.states {
		if slices.Contains(a.groups, state.Group) {
			m.fates[state.Group] = state
		}
	}
}

// homeTold reports whether the home of a group knows what is to be told.
func (m *memory) homeTold(what api.GroupClaim) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, told := m.told[what]
	return told
}

// toldHome notes that the home of a group knows what was told. That matters until a time.
func (m *memory) toldHome(what api.GroupClaim, until int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[what] = until
}

// forgetTold forgets what does not matter any more.
func (m *memory) forgetTold(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.told, func(_ api.GroupClaim, until int64) bool { return until < now })
}

// homePaused reports whether a home has not answered of late.
func (m *memory) homePaused(home string, now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now < m.homes[home].again
}

// fateKnown reports whether the group's home has told of e's group when it was asked last, or never will.
func (m *memory) fateKnown(e *ledger.Entry, now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	silent, isSilent := m.homes[e.Home]
	_, known := m.fates[e.Group]
	return known && !isSilent || isSilent && now-silent.since > homeLost
}

// fate returns what becomes of the job of e by what its group's home has said last.
func (m *memory) fate(e *ledger.Entry, now int64) api.GateAnswer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if silent, ok := m.homes[e.Home]; ok && now-silent.since > homeLost {
		return api.GateAnswer{Answer: api.GateLost, Why: "the site that keeps the group has not answered for a day"}
	}
	switch state, known := m.fates[e.Group]; {
	case !known, state.Open:
		return api.GateAnswer{Answer: api.GateWait}
	case state.Won(e.ID):
		return api.GateAnswer{Answer: api.GateGo, At: state.At}
	default:
		return api.GateAnswer{Answer: api.GateLost, Why: state.Why}
	}
}
