package daemon

import (
	"context"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// notify tells systemd the state of varqd, if systemd has started it; see sd_notify(3). It
// ignores errors, because varqd also works without systemd.
func notify(state string) { _, _ = systemd.SdNotify(false, state) }

// watchdog sends signs of life to systemd's watchdog until ctx is done, each quarter of the
// interval after which the watchdog would start varqd again. It does nothing without a watchdog.
func (d *Daemon) watchdog(ctx context.Context) {
	interval, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		d.log.Error("no signs of life are sent to systemd's watchdog", "error", err)
	}
	if interval == 0 {
		return
	}
	tick := time.NewTicker(interval / 4)
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

// pulse sends one sign of life. It sends none if varqd no longer looks at the queue, so that
// systemd starts varqd again: that would not help where it is Slurm that does not answer. It asks
// the model first, and so does not return as long as that answers nobody.
func (d *Daemon) pulse() {
	d.outlook.Queue()
	if err := d.reads.stuck(); err != nil {
		d.log.Error("not telling systemd's watchdog that varqd is alive", "error", err)
		return
	}
	notify(systemd.SdNotifyWatchdog)
}
