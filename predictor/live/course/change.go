// Package course derives from the queue and from accounting what becomes of a promised job, and
// judges whether the promise was kept. It reads and writes nothing itself: package keeper does.
// Times are Unix seconds.
package course

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Change collects what is new about the job of a reservation, for the ledger.
type Change struct {
	Now       int64 // when it was observed
	Progress  ledger.Progress
	Events    []ledger.Event
	holdUntil int64
	dependent bool // its job is promised to wait for others
	zone      *time.Location
}

// New returns a change of e that is observed now, without news yet. zone is the time zone of the
// times in texts.
func New(e *ledger.Entry, now int64, zone *time.Location) *Change {
	return &Change{Now: now, Progress: e.Progress, holdUntil: e.HoldUntil, dependent: e.Dependency != "", zone: zone}
}

// Event adds an event.
func (c *Change) Event(kind ledger.Kind, format string, args ...any) {
	c.Events = append(c.Events, ledger.Event{At: c.Now, Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// Moment formats a time for the text of an event. The text includes the zone, because
// users in other zones read it too.
func (c *Change) Moment(at int64) string { return slurmtime.Stamp(at, c.zone) }
