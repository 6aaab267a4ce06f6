package sqlitefile

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// leastRoom is how much room, in bytes, SQLite may need on a disk to read a file, for what it keeps
// beside that. With less, an error of input or output is taken for one of a full disk, which is how
// SQLite puts it.
const leastRoom = 64 << 10

// Explain adds to an error of SQLite's about the file path what it does not say, or not so that one
// knows what to do: that the disk is full.
func Explain(path string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	folder := filepath.Dir(path)
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		var disk unix.Statfs_t
		if unix.Statfs(folder, &disk) != nil || disk.Bavail*uint64(disk.Bsize) >= leastRoom {
			return err
		}
	default:
		return err
	}
	return fmt.Errorf("there is no room left on the disk of %s: make some there, and try again (%w)", folder, err)
}
