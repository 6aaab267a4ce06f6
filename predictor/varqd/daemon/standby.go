package daemon

import (
	"context"
	"errors"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/varq-project/varq/predictor/live/statefile"
)

// takeOverPause is the time between two attempts to take over, and so how long a ledger is
// nobody's. It is far shorter than the time after which systemd's watchdog misses a sign of life.
const takeOverPause = time.Second

// StandBy is New once no other varqd uses the ledger, which it waits for. The lock of the ledger
// decides: the kernel gives it free when the varqd that has it ends, however that ends, and not as
// long as that varqd is merely stopped or slow. So no two of them keep the same promises.
//
// A daemon that stands by listens nowhere, asks Slurm nothing, and begins no ledger; see
// statefile.MayTakeOver. If ctx is done first, the error is that of ctx.
func StandBy(ctx context.Context, o Options) (*Daemon, error) {
	for waits := false; ; waits = true {
		if err := statefile.MayTakeOver(o.Config.Ledger.Path); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err // Main does not wait for it any more
		}
		d, err := New(o)
		if !errors.Is(err, statefile.ErrLocked) {
			if waits && err == nil {
				o.Log.Info("takes over", "ledger", o.Config.Ledger.Path)
				notify("STATUS=has taken over")
			}
			return d, err
		}
		if !waits {
			o.Log.Info("stands by: another varqd keeps the promises, and this one will when that has ended", "ledger", o.Config.Ledger.Path)
			notify(systemd.SdNotifyReady)
			notify("STATUS=stands by for another varqd")
		}
		notify(systemd.SdNotifyWatchdog)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(takeOverPause):
		}
	}
}
