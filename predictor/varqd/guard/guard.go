// Package guard determines who may change a file or replace it by another. Whoever may change the
// programs that varqd runs, or the files with its secrets, can act as varqd.
package guard

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Error is the error of a path that can be changed by somebody who must not.
type Error struct {
	Found  string // the path, with its mode or owner
	Remedy string // what to do
}

func (e *Error) Error() string { return e.Found + ": " + e.Remedy }

// Walk calls see for a file or folder, and for all folders above it. If the path leads through
// links, it also calls see for the folders above the links. It returns the first error.
func Walk(path string, see func(at string, info fs.FileInfo) error) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	first := []string{real}
	if path = filepath.Clean(path); real != path {
		first = append(first, filepath.Dir(path))
	}
	for _, at := range first {
		for {
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if err := see(at, info); err != nil {
				return err
			}
			above := filepath.Dir(at)
			if above == at {
				break
			}
			at = above
		}
	}
	return nil
}

// Open reports whether everybody may change a file, or the contents of a folder. In a sticky folder
// nobody may change the files of others.
func Open(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0) && info.Mode()&(fs.ModeDevice|fs.ModeSocket) == 0
}

// File returns an *Error if a file may be changed or replaced by anybody except root, this
// process's user, the owners, and the groups of the file and its folders. Any other error is about
// reading the path.
func File(path string, owners ...uint32) error {
	owners = append(owners, 0, uint32(os.Geteuid()))
	return Walk(path, func(at string, info fs.FileInfo) error {
		if Open(info) {
			return &Error{fmt.Sprintf("%s (mode %04o) can be changed by everybody", at, info.Mode().Perm()), "chmod o-w " + at}
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; !slices.Contains(owners, owner) {
			return &Error{fmt.Sprintf("%s belongs to user %d, who can change it and is neither root nor varqd's user", at, owner), "chown root " + at}
		}
		return nil
	})
}

// Secret returns an *Error if everybody may read or change a file.
func Secret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); info.Mode().IsRegular() && mode&0o007 != 0 {
		return &Error{fmt.Sprintf("%s (mode %04o) is open to everybody", path, mode), "chmod o= " + path}
	}
	return nil
}

// Command splits a command at spaces, and returns the path of its program. It checks the program by
// File, and each other word that is the absolute path of a file, such as a script. An *Error is
// from these checks.
func Command(command string, owners ...uint32) (path string, err error) {
	words := strings.Fields(command)
	if path, err = exec.LookPath(words[0]); err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if err := File(path, owners...); err != nil {
		return "", err
	}
	for _, word := range words[1:] {
		if info, err := os.Stat(word); err != nil || !filepath.IsAbs(word) || !info.Mode().IsRegular() {
			continue
		}
		if err := File(word, owners...); err != nil {
			return "", err
		}
	}
	return path, nil
}
