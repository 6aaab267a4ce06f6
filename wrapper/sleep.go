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

// SleepUntil implements Clock. It is the kernel that minds the clock being set,
// and the machine being suspended, meanwhile.
func (WallClock) SleepUntil(at int64) error {
	for {
		err := unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &unix.Timespec{Sec: at}, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
