package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

const (
	// openingSign is how often a daemon that still opens its files gives a sign of life. It is far
	// shorter than the time after which systemd misses one.
	openingSign = 10 * time.Second
	// openingMore asks systemd for more time than is between two signs.
	openingMore = "EXTEND_TIMEOUT_USEC=60000000"
)

// opening is what systemctl and the log say of a daemon that opens its files for long.
const opening = "opens the ledger: one that an earlier varq has written is copied and upgraded first"

// begin returns what open does, New or StandBy, or the error of ctx once that is done: a large
// ledger takes its time to be upgraded, and a disk that hangs does not answer. What open was doing
// then ends with the process, as by a crash, after which the files are whole. At each tick begin
// tells systemd and the log that varqd is still there: systemd does not wait for ever for one that
// starts, and the next start would begin again.
func begin(ctx context.Context, open func() (*Daemon, error), tick <-chan time.Time, log *slog.Logger) (*Daemon, error) {
	var d *Daemon
	var err error
	done := make(chan struct{})
	go func() {
		d, err = open()
		close(done)
	}()
	for said := false; ; {
		select {
		case <-done:
			return d, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick:
			notify(openingMore)
			notify(systemd.SdNotifyWatchdog)
			if !said {
				said = true
				notify("STATUS=" + opening)
				log.Info(opening)
			}
		}
	}
}

// closeWithin is Close, or errUnended if that does not end before ctx is done: a disk may hang.
func (d *Daemon) closeWithin(ctx context.Context) error {
	var closing sync.WaitGroup
	var err error
	closing.Go(func() { err = d.Close() })
	if unended := ended(ctx, &closing); unended != nil {
		return unended
	}
	return err
}
