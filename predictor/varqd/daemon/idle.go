package daemon

import (
	"context"
	"time"

	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/promise/esr"
)

// idleHere tells how many nodes of this cluster were idle. It implements desk.Idle.
type idleHere struct{ store *idle.Store }

// History implements desk.Idle.
func (i idleHere) History(ctx context.Context, partition string) (*esr.History, error) {
	return i.store.History(ctx, "", partition, time.Local)
}
