package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/slurm"
)

// Runner runs a program as Output does.
type Runner func(ctx context.Context, path string, env []string, args ...string) ([]byte, error)

// Sparing runs programs no more often than once in a time, also if several processes want them: it
// keeps in a folder when each ran, and what it printed. Its methods are Runners, and may be called
// concurrently.
type Sparing struct {
	Folder string // which exists
	// Every is the least time from one run to the next.
	Every time.Duration
	// Patience is how long a program may run that is asked for its Output, or 0 for as long as it
	// takes.
	Patience time.Duration
	Now      func() time.Time
	Run      Runner // Output if nil
}

// spared is for how long a failure is remembered at most.
const spared = time.Minute

// Output returns what a program prints with these arguments, or has printed with them if that is
// no longer ago than Every. A failure is remembered for as long, but for no more than a minute, and
// its error says when that is over. What a full disk does not keep, or has changed by its checksum,
// is asked again.
func (s *Sparing) Output(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	kept := s.kept(path, args)
	unlock, err := lock(ctx, kept+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	pause := min(s.Every, spared)
	if text, is := s.recall(kept+".failed", pause); is {
		return nil, fmt.Errorf("%w: %s", slurm.ErrUnavailable, bytes.TrimPrefix(text, []byte(slurm.ErrUnavailable.Error()+": ")))
	}
	if out, is := s.recall(kept, s.Every); is {
		return out, nil
	}
	patient := ctx
	if s.Patience != 0 {
		var end context.CancelFunc
		patient, end = context.WithTimeoutCause(ctx, s.Patience, fmt.Errorf("no answer within %v", s.Patience))
		defer end()
	}
	out, err := s.run(patient, path, env, args...)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		err = fmt.Errorf("%w; to spare Slurm, it is asked again after %s", err, s.Now().Add(pause).Format(time.TimeOnly))
		return nil, errors.Join(err, s.keep(kept+".failed", summed([]byte(err.Error()))))
	}
	if s.keep(kept, summed(out)) != nil {
		_ = os.Remove(kept) // which is older
	}
	return out, nil
}

// Told returns when a program has printed what Output returns for these arguments, or the zero time
// if it has not.
func (s *Sparing) Told(path string, args ...string) time.Time {
	is, err := os.Stat(s.kept(path, args))
	if err != nil {
		return time.Time{}
	}
	return is.ModTime()
}

// kept returns the file that has what a program printed.
func (s *Sparing) kept(path string, args []string) string {
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	return filepath.Join(s.Folder, filepath.Base(path)+"-"+hex.EncodeToString(sum[:8]))
}

// ErrSpared is the error of Once for a program that has run a moment ago.
var ErrSpared = errors.New("what was asked a moment ago is not asked again for now, to spare Slurm")

// Once runs a program, whatever its arguments, if Every has passed since Once ran it last. If it
// has not, the error is ErrSpared.
func (s *Sparing) Once(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	stamp := filepath.Join(s.Folder, filepath.Base(path)+".asked")
	unlock, err := lock(ctx, stamp+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if s.rest(stamp, s.Every) > 0 {
		return nil, ErrSpared
	}
	if err := s.keep(stamp, nil); err != nil {
		return nil, err
	}
	return s.run(ctx, path, env, args...)
}

func (s *Sparing) run(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	if s.Run != nil {
		return s.Run(ctx, path, env, args...)
	}
	return Output(ctx, path, env, args...)
}

// rest returns how much of a time is left since a file was kept: 0 or less if nothing is. A file of
// the future, after a change of the clock, counts as none.
func (s *Sparing) rest(path string, of time.Duration) time.Duration {
	is, err := os.Stat(path)
	if err != nil {
		return 0
	}
	age := s.Now().Sub(is.ModTime())
	if age < 0 {
		return 0
	}
	return of - age
}

// recall returns what was kept less than a time ago, unless it is not what was written.
func (s *Sparing) recall(path string, ago time.Duration) (data []byte, is bool) {
	if s.rest(path, ago) <= 0 {
		return nil, false
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) < sha256.Size {
		return nil, false
	}
	data = text[sha256.Size:]
	return data, [sha256.Size]byte(text) == sha256.Sum256(data)
}

// summed returns data behind its checksum, which recall takes off.
func summed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

// keep writes a file at once or not at all.
func (s *Sparing) keep(path string, data []byte) error {
	now, draft := s.Now(), path+".new"
	if err := os.WriteFile(draft, data, 0o600); err != nil {
		return err
	}
	return errors.Join(os.Chtimes(draft, now, now), os.Rename(draft, path))
}

// lock waits until no other process has a file locked.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
