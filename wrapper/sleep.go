package wrapper

import (
	"errors"

	"golang.org/x/sys/unix"
)

// sleepUntil returns when the wall clock shows the time, Unix seconds, or at
// once if it does already. It is the kernel that minds the clock being set, and
// the machine being suspended, meanwhile.
func sleepUntil(at int64) error {
	for {
		err := unix.ClockNanosleep(unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, &unix.Timespec{Sec: at}, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
