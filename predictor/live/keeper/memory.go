package keeper

import (
	"sync"

	"github.com/varq-project/varq/predictor/live/ledger"
)

// retryAfter is how long a reservation is left alone after Slurm or the ledger has
// failed on it, in seconds.
const retryAfter = 60

// maxUnclaimed bounds how many plans without a job a user may have, lest one user
// fills the ledger.
const maxUnclaimed = 10_000

// memory holds what the keeper knows of open reservations beside the ledger. A crash
// loses it, at the price of a call to Slurm too many.
type memory struct {
	mu        sync.Mutex
	forecasts map[string]float64 // the latest of starting by the deadline, by plan
	retry     map[string]int64   // until when to leave a plan alone, by plan
	unclaimed map[string]int     // plans without a job, by user
}

func newMemory() memory {
	return memory{forecasts: map[string]float64{}, retry: map[string]int64{}, unclaimed: map[string]int{}}
}

// keep forgets all reservations but the open ones, and counts those without a job.
func (m *memory) keep(open []ledger.Entry) {
	isOpen := make(map[string]bool, len(open))
	unclaimed := map[string]int{}
	for i := range open {
		isOpen[open[i].ID] = true
		if open[i].Job == 0 {
			unclaimed[open[i].User]++
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unclaimed = unclaimed
	for plan := range m.forecasts {
		if !isOpen[plan] {
			delete(m.forecasts, plan)
		}
	}
	for plan := range m.retry {
		if !isOpen[plan] {
			delete(m.retry, plan)
		}
	}
}

// admit counts one more plan without a job of user's. It reports false, and counts
// nothing, if there are too many.
func (m *memory) admit(user string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unclaimed[user] >= maxUnclaimed {
		return false
	}
	m.unclaimed[user]++
	return true
}

func (m *memory) setForecast(plan string, prob float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forecasts[plan] = prob
}

// forecast returns what was last set for plan, 0 if nothing was.
func (m *memory) forecast(plan string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.forecasts[plan]
}

// postpone has plan left alone for retryAfter seconds from now on.
func (m *memory) postpone(plan string, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retry[plan] = now + retryAfter
}

// postponed reports whether plan is to be left alone now.
func (m *memory) postponed(plan string, now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now < m.retry[plan]
}
