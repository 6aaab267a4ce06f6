package keeper

import (
	"context"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// change collects what is new about the job of a reservation. Method record of Keeper
// writes it into the ledger.
type change struct {
	now       int64
	holdUntil int64 // of the reservation
	zone      *time.Location
	progress  ledger.Progress
	events    []ledger.Event
}

func (k *Keeper) newChange(e *ledger.Entry, now int64) *change {
	return &change{now: now, holdUntil: e.HoldUntil, zone: k.Zone, progress: e.Progress}
}

func (c *change) event(kind ledger.Kind, format string, args ...any) {
	c.events = append(c.events, ledger.Event{At: c.now, Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// moment formats a time for the text of an event. The text includes the zone, because
// users in other zones read it too.
func (c *change) moment(at int64) string { return slurmtime.Stamp(at, c.zone) }

// record writes c into the ledger and into e. It writes nothing if nothing is new.
func (k *Keeper) record(ctx context.Context, e *ledger.Entry, c *change) error {
	if c.progress == e.Progress && len(c.events) == 0 {
		return nil
	}
	if err := k.Ledger.Record(ctx, e.ID, c.progress, c.events...); err != nil {
		return err
	}
	for _, event := range c.events {
		k.Log.Info(event.Text, "plan", e.ID, "job", e.Job, "kind", event.Kind)
	}
	e.Progress, c.events = c.progress, nil
	return nil
}
