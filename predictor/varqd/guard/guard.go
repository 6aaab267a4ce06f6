// Package guard tells who may change a file, or put another one in its place: who may change what
// varqd runs, or reads its secrets from, is varqd.
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

// Error is the error of a path that somebody may change who must not.
type Error struct {
	Found  string // which path, with its mode or owner
	Remedy string // what to do
}

func (e *Error) Error() string { return e.Found + ": " + e.Remedy }

// Walk calls see for a file, or a folder, and for all folders above it; and, if links lead to it,
// for those above the links too. It returns the first error.
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

// Open reports whether everybody may change a file, or what is in a folder. In a sticky one nobody
// changes what is others'.
func Open(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0) && info.Mode()&(fs.ModeDevice|fs.ModeSocket) == 0
}

// File returns an *Error unless root, this process's user and owners alone, and their groups, may
// change a file or put another one in its place.
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

// Secret returns an *Error if everybody may read a file, or change it.
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

// Command returns the path of the program that a command begins with, which is split at spaces. The
// error is an *Error unless File returns none for the program, and for each file that another word
// names by an absolute path, as that of a script.
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
