package daemon

import (
	"fmt"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// A look at the queue is overdue after this many of the usual pauses, and never sooner
// than overdueLeast: one look may have much to ask of a slow Slurm.
const (
	overduePauses = 10
	overdueLeast  = 5 * time.Minute
)

// looks remembers when a look at the queue last came back, whether or not Slurm answered.
// A look that never comes back is a fault of varqd's own.
type looks struct {
	now   func() time.Time
	bound time.Duration

	mu   sync.Mutex
	last time.Time
}

// newLooks counts the present as the first look.
func newLooks(c config.Watch, now func() time.Time) *looks {
	pause := time.Duration(max(c.Interval, c.Idle))
	return &looks{now: now, bound: max(overduePauses*pause, overdueLeast), last: now()}
}

// done notes that a look came back.
func (l *looks) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.now()
}

// overdue returns an error if the last look is too long ago.
func (l *looks) overdue() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := l.now().Sub(l.last); age > l.bound {
		return fmt.Errorf("the queue has not been looked at for %d minutes", int(age.Minutes()))
	}
	return nil
}
