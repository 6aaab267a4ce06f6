package daemon

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notify tells systemd about the state of varqd, if systemd has started it; see
// sd_notify(3).
func notify(state string) {
	address := os.Getenv("NOTIFY_SOCKET")
	if address == "" {
		return
	}
	if strings.HasPrefix(address, "@") { // an abstract socket
		address = "\x00" + address[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}

// watchdog tells systemd regularly that varqd is alive, if it wants to know.
func (d *Daemon) watchdog(ctx context.Context) {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 {
		return
	}
	tick := time.NewTicker(time.Duration(usec) * time.Microsecond / 2)
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

// pulse tells systemd that varqd is alive, unless it no longer looks at the
// queue: then systemd is to start it again.
func (d *Daemon) pulse() {
	if err := d.looks.overdue(); err != nil {
		d.log.Error("not telling systemd's watchdog that varqd is alive", "error", err)
		return
	}
	notify("WATCHDOG=1")
}
