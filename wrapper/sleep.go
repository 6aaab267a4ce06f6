package wrapper

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// WallClock is the Clock of this host.
type WallClock struct{}

// Now implements Clock.
func (WallClock) Now() int64 { return time.Now().Unix() }

// SleepUntil implements Clock. The kernel wakes it at the right time even if the clock is
// set or the machine is suspended meanwhile.
func (WallClock) SleepUntil(at int64) error {
	for {
		err := unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &unix.Timespec{Sec: at}, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
