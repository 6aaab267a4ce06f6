package daemon

import (
	"fmt"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// A look at the queue is overdue after overduePauses of the usual pauses, but not before
// overdueLeast: Slurm may be slow to answer one reading.
const (
	overduePauses = 10
	overdueLeast  = 5 * time.Minute
)

// reads remembers when the last look at the queue ended, whether or not Slurm answered, or was
// asked at all. A look that never ends is a fault of varqd itself.
type reads struct {
	now   func() time.Time
	bound time.Duration

	mu   sync.Mutex
	last time.Time
}

// newReads counts the present as the end of a first attempt.
func newReads(c config.Watch, now func() time.Time) *reads {
	pause := time.Duration(max(c.Interval, c.Idle))
	return &reads{now: now, bound: max(overduePauses*pause, overdueLeast), last: now()}
}

// done notes that an attempt has ended.
func (r *reads) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = r.now()
}

// overdue returns an error if the last attempt ended too long ago.
func (r *reads) overdue() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := r.now().Sub(r.last); age > r.bound {
		return fmt.Errorf("the queue has not been looked at for %d minutes", int(age.Minutes()))
	}
	return nil
}
