package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrLocked is the error of Lock for a file that another process has locked.
var ErrLocked = errors.New("another varqd uses it; stop that one first, or give this one another ledger.path")

// Lock makes sure that no other process that calls Lock uses the file path, until release is
// called or the process ends, however it ends. The lock is the kernel's, on a file beside path
// that stays there. Programs that call no Lock, such as a backup, are not kept away.
func Lock(path string) (release func() error, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // by whatever name, the file has one lock
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: %s: %w", path, err), f.Close())
	}
	return func() error {
		// not only closed: a program that is just being started has the file open, too
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
	}, nil
}
