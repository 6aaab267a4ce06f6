package keeper

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// retryAfter is the number of seconds after which the keeper repeats a call, for one reservation,
// that Slurm or the ledger has refused or failed.
const retryAfter = 60

// retryUnanswered is the same for a call that Slurm has not answered. Watch stops after such a
// call. Meanwhile other reservations get their turn.
const retryUnanswered = 5

// maxExpired is the greatest number of plans without a job that one Watch closes. The others wait
// for the next Watch, so that no Watch holds the lock for long.
const maxExpired = 1000

// memory has what the keeper knows of open reservations and does not write into the ledger. A crash
// loses it. The next Watch then computes the forecasts again, and retries what failed
// without waiting for retryAfter.
type memory struct {
	mu        sync.Mutex
	plans     map[string]*remembered
	unclaimed []*ledger.Entry // open plans without a job, as Watch has read them
	// lastRead has, for each urgency, the job whose turn was last: see hadTurn.
	lastRead [urgencies]int64
	// tidied is when Ledger.Forget was called last.
	tidied int64
	// listingFrom is the time from which on accounting is again asked for several jobs at once.
	// Such a request has failed.
	listingFrom int64
	// limitsFrozenUntil is the time until which time limits are not changed. Slurm has not let varqd
	// act as a job's owner.
	limitsFrozenUntil int64
}

// remembered is what memory has of one plan. Times are Unix seconds, or 0.
type remembered struct {
	prospect prospect
	warning  warning
	retry    int64 // when to repeat a failed call
	changed  int64 // when its job was changed, outside Watch
	moved    int64 // when Watch moved the begin time of its job
	absent   int64 // since when the queue has not shown its job
}

// prospect is the last forecast whether a promise will be kept.
type prospect struct {
	known    bool    // prob was forecast
	prob     float64 // 0 unless known
	obstacle obstacle
	// later is by when an endangered job ends with the probability promised, Unix seconds. It is 0
	// if the job does by its deadline, or never.
	later int64
	// rescue is what would keep an endangered promise, or nil.
	rescue *rescue
}

func newMemory() memory { return memory{plans: map[string]*remembered{}} }

// of returns what is remembered of a plan. The caller holds the mutex.
func (m *memory) of(plan string) *remembered {
	r := m.plans[plan]
	if r == nil {
		r = &remembered{}
		m.plans[plan] = r
	}
	return r
}

// retain forgets the reservations that are not in open, unless a call for one is still to be
// repeated, and notes the open ones without a job.
func (m *memory) retain(open []ledger.Entry, now int64) {
	isOpen := make(map[string]bool, len(open))
	var unclaimed []*ledger.Entry
	for i := range open {
		isOpen[open[i].ID] = true
		if open[i].Job == 0 {
			unclaimed = append(unclaimed, &open[i])
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unclaimed = unclaimed
	maps.DeleteFunc(m.plans, func(plan string, r *remembered) bool { return !isOpen[plan] && r.retry <= now })
}

// takeExpired returns the expired plans without a job, at most maxExpired. It then returns none
// until retain is called again.
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

// prospect returns the last forecast for a plan.
func (m *memory) prospect(plan string) prospect {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.plans[plan]; r != nil {
		return r.prospect
	}
	return prospect{}
}

// foresee notes how likely plan's promise is to be kept, and why it is not, or the zero obstacle.
// later is as in prospect.later. The plan's rescue stays as it is.
func (m *memory) foresee(plan string, prob float64, why obstacle, later int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(plan)
	r.prospect = prospect{known: !why.unknown, prob: prob, obstacle: why, later: later, rescue: r.prospect.rescue}
}

// dropForecast forgets the forecast for a plan and its rescue.
func (m *memory) dropForecast(plan string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(plan).prospect = prospect{}
}

// setRescue notes what would keep plan's promise; nil stands for nothing.
func (m *memory) setRescue(plan string, r *rescue) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(plan).prospect.rescue = r
}

// postpone makes postponed true for plan during the next retryAfter seconds.
func (m *memory) postpone(plan string, now int64) { m.retryAt(plan, now+retryAfter) }

// postponeAfter is postpone after a call that failed with err. If Slurm has not answered, it
// postpones for retryUnanswered seconds only.
func (m *memory) postponeAfter(err error, plan string, now int64) {
	wait := int64(retryAfter)
	if errors.Is(err, slurm.ErrUnavailable) {
		wait = retryUnanswered
	}
	m.retryAt(plan, now+wait)
}

// retryAt makes postponed true for plan until a time.
func (m *memory) retryAt(plan string, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(plan).retry = at
}

// postponed reports whether it is too early to repeat a failed call for plan.
func (m *memory) postponed(plan string, now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.plans[plan]
	return r != nil && now < r.retry
}

// absentSince returns since when the queue has not shown the job of a plan. The first call sets it
// to now.
func (m *memory) absentSince(plan string, now int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(plan)
	r.absent = cmp.Or(r.absent, now)
	return r.absent
}

// changeNow notes that the job of plan is changed outside Watch.
func (m *memory) changeNow(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(plan).changed = now
}

// changedSince reports whether changeNow was called for plan at the time t or later. The times may
// differ by course.Skew.
func (m *memory) changedSince(plan string, t int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.of(plan).changed
	return at != 0 && t <= at+course.Skew
}

// move notes that Watch moves the begin time of plan's job.
func (m *memory) move(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(plan).moved = now
}

// isSettled reports whether plan's job, which was promised at a time, has neither been submitted
// nor moved in the last seconds.
func (m *memory) isSettled(plan string, promised, now, seconds int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := max(promised, m.of(plan).moved)
	return now < at || now >= at+seconds
}

// inTurn sorts entries of an urgency by their jobs. It begins with the job that follows the one
// whose turn was last.
func (m *memory) inTurn(u urgency, entries []ledger.Entry) []ledger.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(entries, func(a, b ledger.Entry) int { return cmp.Compare(a.Job, b.Job) })
	first := max(0, slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Job > m.lastRead[u] }))
	return slices.Concat(entries[first:], entries[:first])
}

// hadTurn notes that the job of an entry of an urgency had its turn: it was read, could not be
// read, or is about to be planned again.
func (m *memory) hadTurn(u urgency, job int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastRead[u] = job
}

// tidyEvery is the number of seconds between two calls of Ledger.Forget.
const tidyEvery = 60

// tidies reports whether Ledger.Forget is due now, and notes that it is called then.
func (m *memory) tidies(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now < m.tidied+tidyEvery {
		return false
	}
	m.tidied = now
	return true
}

// stopListing makes listing false for half of retryAfter. If accounting cannot tell of a job, the
// job is not asked for during retryAfter. So the next list comes while that job is left out.
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

// limitsFrozenFor is for how many seconds the keeper does not change time limits after Slurm has
// not let it act as a job's owner.
const limitsFrozenFor = 600

// freezeLimits makes limitsFrozen true for the next limitsFrozenFor seconds.
func (m *memory) freezeLimits(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limitsFrozenUntil = now + limitsFrozenFor
}

// limitsFrozen reports whether time limits must not be changed now.
func (m *memory) limitsFrozen(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now < m.limitsFrozenUntil
}

// warning is what the user has been told of a promise's danger.
type warning struct {
	told bool  // that the promise is endangered
	safe int64 // since when it is no longer endangered, Unix seconds; 0 while it is
}

// calm is for how many seconds a promise must have been safe before the user is told, so that a
// forecast that wavers is reported once.
const calm = 300

// endangered notes whether plan's promise is endangered now, and reports whether the user should be
// told.
func (m *memory) endangered(plan string, is bool, now int64) (tell bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.of(plan).warning
	switch {
	case is:
		tell, *w = !w.told, warning{told: true}
	case w.told && w.safe == 0:
		w.safe = now
	case w.told && now-w.safe >= calm:
		tell, *w = true, warning{}
	}
	return tell
}
