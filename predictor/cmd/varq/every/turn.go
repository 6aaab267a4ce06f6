package every

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Two varq every at a time never work on the same folder. Of those of one host a lock lets one
// through, which lasts as long as a process has it. But a home that several hosts mount may lock
// for each of them alone, and say nothing: BeeGFS and Lustre do, as they are set up. What any
// shared folder does is to let one of several links of the same name be made. So whoever has the
// lock then takes a turn: turns are numbered, each is a file, and its name is never taken twice.

// ErrBusy is the error of a folder that another varq every changes all the time.
var ErrBusy = errors.New("another 'varq every' is at work; try again when it is done")

// patience is for how long one varq every waits for another: about as long as that takes to reserve
// all of a series.
const patience = time.Minute

const (
	// lost is for how long, in seconds, a turn of another host's may be as it is before its host
	// counts as crashed: no sbatch takes as long, even if the hosts' clocks differ by minutes.
	lost = 30 * 60
	// turnsKept is how many turns are kept that are over.
	turnsKept  = 8
	turnPrefix = "turn-"
	maxTurn    = 1 << 10 // bytes of a file
)

// turn is the right to change the folder.
type turn struct {
	store *store
	// lock is to be inherited by sbatch: as long as that goes on, no other varq of this host has a
	// turn, even if this process is killed.
	lock   *os.File
	number int64
	whose  holder
}

// holder says whose a turn is. It is what a turn's file has.
type holder struct {
	Host string `json:"host"`
	// Kernel is other than any other kernel's, and than that of the same host before it was
	// started.
	Kernel string `json:"kernel"`
	At     int64  `json:"at"`             // when it last said that it goes on, by its own clock
	Over   bool   `json:"over,omitempty"` // so that nobody has to wait
}

// me returns whose the turns of this process are.
func me() (holder, error) {
	host, err := os.Hostname()
	if err != nil {
		return holder{}, err
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return holder{Host: host, Kernel: strings.TrimSpace(string(kernel))}, err
}

// takeTurn returns when it is somebody's turn, and waits for others that have it so far, but no
// longer than patience.
func (s *store) takeTurn(ctx context.Context, patience time.Duration, whose holder, now func() int64) (*turn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	lock, err := s.root.OpenFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const again = 100 * time.Millisecond
	t := &turn{store: s, lock: lock, whose: whose}
	for locked := false; ; {
		if !locked {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			locked = err == nil
		}
		switch {
		case locked:
			err = t.begin(now())
		case errors.Is(err, unix.EWOULDBLOCK):
			err = ErrBusy
		}
		if !errors.Is(err, ErrBusy) {
			break
		}
		select {
		case <-time.After(again):
			continue
		case <-ctx.Done():
		}
		break
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.dir, err), lock.Close())
	}
	return t, nil
}

// begin takes the next turn, if the last one is over. Otherwise it returns ErrBusy.
func (t *turn) begin(now int64) error {
	numbers, err := t.store.turns()
	if err != nil {
		return err
	}
	if len(numbers) > 0 {
		t.number = numbers[len(numbers)-1]
		last, err := t.store.holder(t.number)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was long ago when this host looked
			return ErrBusy
		case err != nil:
			return err
		case last.Over || last.Kernel == t.whose.Kernel:
			// who had it is gone: this process has the lock
		case max(now-last.At, last.At-now) < lost:
			return fmt.Errorf("%w (on %s)", ErrBusy, last.Host)
		}
	}
	t.number++
	t.whose.At = now
	part, err := t.store.part(t.whose)
	if err != nil {
		return err
	}
	err = t.store.root.Link(part, turnName(t.number))
	if errors.Is(err, fs.ErrExist) {
		err = ErrBusy
	}
	if err = errors.Join(err, t.store.root.Remove(part)); err != nil {
		return err
	}
	for _, n := range numbers[:max(0, len(numbers)-turnsKept)] {
		_ = t.store.root.Remove(turnName(n))
	}
	return nil
}

// goOn says that the turn is not over yet. It fails if another host has taken this one for crashed.
func (t *turn) goOn(now int64) error {
	numbers, err := t.store.turns()
	if err != nil {
		return err
	}
	if len(numbers) > 0 && numbers[len(numbers)-1] != t.number {
		return fmt.Errorf("%w: it was another's turn before this one was over", ErrBusy)
	}
	t.whose.At = now
	return t.store.write(turnName(t.number), t.whose)
}

// end ends the turn.
func (t *turn) end() error {
	t.whose.Over = true
	return errors.Join(t.store.write(turnName(t.number), t.whose), t.lock.Close())
}

func turnName(n int64) string { return turnPrefix + strconv.FormatInt(n, 10) }

// turns returns the numbers of the turns in their order.
func (s *store) turns() (numbers []int64, err error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, entry := range entries {
		text, is := strings.CutPrefix(entry.Name(), turnPrefix)
		if n, err := strconv.ParseInt(text, 10, 64); is && err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// holder returns whose a turn is. A file that cannot be read is that of a turn that is over: it was
// whole from the beginning.
func (s *store) holder(n int64) (h holder, err error) {
	f, err := s.root.Open(turnName(n))
	if err != nil {
		return h, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTurn))
	if err != nil {
		return h, err
	}
	if json.Unmarshal(text, &h) != nil {
		return holder{Over: true}, nil
	}
	return h, nil
}
