package daemon

import (
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
)

func TestOverdue(t *testing.T) {
	for _, test := range []struct {
		interval, idle, bound time.Duration
	}{
		{5 * time.Second, 20 * time.Second, 5 * time.Minute},
		{5 * time.Second, time.Minute, 10 * time.Minute},
		{time.Hour, time.Minute, 10 * time.Hour},
	} {
		clock := time.Unix(1_800_000_000, 0)
		l := newReads(config.Watch{Interval: config.Duration(test.interval), Idle: config.Duration(test.idle)}, func() time.Time { return clock })
		clock = clock.Add(test.bound)
		if err := l.overdue(); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		clock = clock.Add(time.Second)
		if l.overdue() == nil {
			t.Errorf("%+v: not overdue", test)
		}
		if l.done(false); l.overdue() == nil || l.stuck() != nil {
			t.Errorf("%+v: after a look that has read nothing: %v, %v", test, l.overdue(), l.stuck())
		}
		l.done(true)
		if err := l.overdue(); err != nil {
			t.Errorf("%+v: after another reading: %v", test, err)
		}
		clock = clock.Add(test.bound + time.Second)
		if l.stuck() == nil {
			t.Errorf("%+v: not stuck", test)
		}
	}
}

// TestStuckWatch: a daemon that no longer reads the queue reports that as a problem, and
// does not notify systemd that it is alive.
func TestStuckWatch(t *testing.T) {
	d, err := New(Options{Config: testConfig(t), Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	heard := func() string {
		conn.SetReadDeadline(time.Now().Add(patient))
		buffer := make([]byte, 64)
		n, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}

	clock := time.Unix(1_800_000_000, 0)
	d.reads = newReads(d.config.Watch, func() time.Time { return clock })
	clock = clock.Add(7 * time.Minute)
	const problem = "the queue has not been read for 7 minutes"
	if h := (service{daemon: d}).Health(t.Context()); h.OK || !slices.Contains(h.Problems, problem) {
		t.Errorf("health %+v", h)
	}
	d.pulse()
	notify("STATUS=after")
	if got := heard(); got != "STATUS=after" {
		t.Errorf("told systemd %s", got)
	}

	for _, read := range []bool{false, true} { // a look that has read nothing is a sign of life
		d.reads.done(read)
		if h := (service{daemon: d}).Health(t.Context()); slices.Contains(h.Problems, problem) == read {
			t.Errorf("after another look, which has read the queue: %v: health %+v", read, h)
		}
		d.pulse()
		if got := heard(); got != "WATCHDOG=1" {
			t.Errorf("told systemd %s", got)
		}
	}
}
