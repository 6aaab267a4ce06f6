package daemon

import (
	"fmt"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// A reading of the queue is overdue after overduePauses of the usual pauses, but not before
// overdueLeast: Slurm may be slow to answer one reading.
const (
	overduePauses = 10
	overdueLeast  = 5 * time.Minute
)

// reads remembers when the queue was read last, as far as that was due, and when the last look at
// it ended, whether or not Slurm answered, or was asked at all. That nothing is read may be Slurm's
// fault. A look that never ends is a fault of varqd itself.
type reads struct {
	now   func() time.Time
	bound time.Duration

	mu          sync.Mutex
	read, ended time.Time
}

// newReads counts the present as the end of a first look, which has read the queue.
func newReads(c config.Watch, now func() time.Time) *reads {
	pause := time.Duration(max(c.Interval, c.Idle))
	return &reads{now: now, bound: max(overduePauses*pause, overdueLeast), read: now(), ended: now()}
}

// done notes that a look has ended, and whether it has read all that it was to read.
func (r *reads) done(read bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = r.now()
	if read {
		r.read = r.ended
	}
}

// overdue returns an error if the queue was read too long ago.
func (r *reads) overdue() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tooOld(r.read, "the queue has not been read for %d minutes")
}

// stuck returns an error if the last look ended too long ago.
func (r *reads) stuck() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tooOld(r.ended, "the queue has not been looked at for %d minutes")
}

// tooOld returns an error with a text about minutes if a time is too long ago.
func (r *reads) tooOld(at time.Time, text string) error {
	if age := r.now().Sub(at); age > r.bound {
		return fmt.Errorf(text, int(age.Minutes()))
	}
	return nil
}
