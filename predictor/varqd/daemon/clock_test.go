package daemon

import (
	"strings"
	"testing"
	"time"
	"unsafe"
)

// host is a host's clock: its monotonic reading cannot be set, so a test moves the time by hand.
type host struct{ t time.Time }

func (h *host) now() time.Time { return h.t }

func TestClock(t *testing.T) {
	const slurm = 1_800_000_000
	h := &host{time.Unix(slurm+30, 0)} // 30 s ahead of Slurm
	c := newClock(h.now)
	if err := c.ready(); err == nil || !c.due() {
		t.Errorf("before any measurement: %v, due %v", err, c.due())
	}
	c.observe(h.now(), -30*time.Second, time.Second)
	if got := c.now(); got != slurm-1 {
		t.Errorf("now %d, want %d: one second less than the middle", got, slurm-1)
	}
	if err := c.ready(); err != nil || c.due() {
		t.Errorf("%v, due %v", err, c.due())
	}
	if notes := c.notes(); len(notes) != 1 || !strings.Contains(notes[0], "30 s ahead of Slurm's") {
		t.Errorf("notes %q", notes)
	}

	// A better measurement narrows the interval, and a worse one does not widen it.
	c.observe(h.now(), -30*time.Second, 100*time.Millisecond)
	c.observe(h.now(), -40*time.Second, 20*time.Second)
	if earliest, latest := c.interval(h.t); latest.Sub(earliest) != 200*time.Millisecond || c.now() != slurm-1 {
		t.Errorf("from %v to %v", earliest, latest)
	}

	// The interval widens slowly while nobody measures.
	h.t = h.t.Add(1000 * time.Second)
	if earliest, latest := c.interval(h.t); latest.Sub(earliest) != 1200*time.Millisecond || !c.due() {
		t.Errorf("from %v to %v, due %v", earliest, latest, c.due())
	}

	// A measurement that contradicts what was known replaces it: a clock was set.
	c.observe(h.now(), 0, time.Second)
	if got, want := c.now(), h.t.Unix()-1; got != want || len(c.notes()) != 0 {
		t.Errorf("now %d, want %d; notes %q", got, want, c.notes())
	}

	// A slow slurmrestd leaves Slurm's time in doubt.
	slow := newClock(h.now)
	slow.observe(h.now(), 0, 16*time.Second)
	if err := slow.ready(); err == nil || !strings.Contains(err.Error(), "known only to 32 seconds") {
		t.Errorf("%v", err)
	}
	if got, want := slow.now(), h.t.Unix()-16; got != want {
		t.Errorf("now %d, want %d", got, want)
	}
}

// The host's clock is set while varqd runs. Between measurements that changes nothing.
func TestClockIsSet(t *testing.T) {
	began := time.Now() // with a monotonic reading
	current := began
	c := newClock(func() time.Time { return current })
	c.observe(current, 0, 0)
	before := c.now()
	// An hour passes on the monotonic clock. What the clock on the wall shows is not looked at.
	current = began.Add(time.Hour)
	if got := c.now() - before; got < 3598 || got > 3600 {
		t.Errorf("%d s have passed, want an hour less the drift", got)
	}
}

// stepped returns t as the host reads it whose clock was set by so many seconds: the monotonic
// reading stays. Package time makes no such time; the seconds of one with a monotonic reading begin
// at bit 30 of its first word.
func stepped(t time.Time, seconds int64) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(seconds << 30) //nolint:gosec // a faked clock
	return t
}

// When the host's clock is set while Slurm's is asked for, nothing goes by what it shows
// afterwards.
func TestClockIsSetMeanwhile(t *testing.T) {
	for _, step := range []int64{3600, -3600, 86400, 5} {
		began := time.Now()
		current := began
		c := newClock(func() time.Time { return current })
		at := c.host()
		current = stepped(began.Add(time.Second), step) // before slurmctld's answer is there
		if got := current.Unix() - began.Add(time.Second).Unix(); got != step || current.Sub(began) != time.Second {
			t.Fatalf("the clock is set by %d s, and %v pass", got, current.Sub(began))
		}
		c.observe(at, -30*time.Second, 0)
		if got, want := c.now(), began.Unix()-30; got < want || got > want+2 {
			t.Errorf("set by %d s: now is %d s off", step, got-want)
		}
	}
}

// A host that has slept, which its monotonic clock does not count, asks for Slurm's time before
// anything is promised.
func TestHostHasSlept(t *testing.T) {
	began := time.Now()
	current := began
	c := newClock(func() time.Time { return current })
	c.observe(current, 0, time.Second)
	current = stepped(began.Add(time.Second), 600)
	if err := c.ready(); err == nil || !strings.Contains(err.Error(), "has moved on by 600 seconds at once") || !c.due() {
		t.Errorf("%v, due %v", err, c.due())
	}
	c.observe(current, 0, time.Second)
	if got, want := c.now(), began.Unix()+600; got < want-1 || got > want+1 || c.ready() != nil || c.due() {
		t.Errorf("measured again: now is %d s off, %v, due %v", got-want, c.ready(), c.due())
	}
	current = stepped(current, -600) // set back: Slurm's time is what it was
	if err := c.ready(); err != nil || !c.due() {
		t.Errorf("%v, due %v", err, c.due())
	}
}
