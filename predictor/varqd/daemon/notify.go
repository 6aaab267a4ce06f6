package daemon

import (
	"context"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// notify tells systemd the state of varqd, if systemd has started it; see
// sd_notify(3). It fails in silence: varqd does its work without systemd, too.
func notify(state string) { _, _ = systemd.SdNotify(false, state) }

// watchdog sends systemd's watchdog a sign of life twice in the time after which it
// would start varqd again, until ctx is done. It does nothing without a watchdog.
func (d *Daemon) watchdog(ctx context.Context) {
	interval, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		d.log.Error("no signs of life are sent to systemd's watchdog", "error", err)
	}
	if interval == 0 {
		return
	}
	tick := time.NewTicker(interval / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.pulse()
		}
	}
}

// pulse sends one sign of life, unless varqd no longer looks at the queue: then
// systemd is to start it again.
func (d *Daemon) pulse() {
	if err := d.looks.overdue(); err != nil {
		d.log.Error("not telling systemd's watchdog that varqd is alive", "error", err)
		return
	}
	notify(systemd.SdNotifyWatchdog)
}
