package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made makes a folder with a program and a link to it, and returns their paths.
func made(t *testing.T) (folder, program, link string) {
	t.Helper()
	root := t.TempDir()
	folder = filepath.Join(root, "programs")
	program, link = filepath.Join(folder, "model"), filepath.Join(root, "links", "model")
	for _, dir := range []string{folder, filepath.Dir(link)} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755), os.Symlink(program, link)); err != nil {
		t.Fatal(err)
	}
	return folder, program, link
}

func TestFile(t *testing.T) {
	folder, program, link := made(t)
	for _, path := range []string{program, link} {
		if err := File(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, c := range []struct {
		open   string
		mode   os.FileMode
		path   string
		remedy string // "" if it is well
	}{
		{program, 0o757, program, "chmod o-w " + program},
		{program, 0o775, program, ""},
		{folder, 0o777, program, "chmod o-w " + folder},
		{folder, 0o777, link, "chmod o-w " + folder},
		{folder, 0o777 | os.ModeSticky, program, ""},
		{filepath.Dir(link), 0o777, link, "chmod o-w " + filepath.Dir(link)},
		{filepath.Dir(link), 0o777, program, ""},
		{filepath.Dir(folder), 0o777, program, "chmod o-w " + filepath.Dir(folder)},
	} {
		if err := os.Chmod(c.open, c.mode); err != nil {
			t.Fatal(err)
		}
		err := File(c.path)
		var of *Error
		if errors.As(err, &of) != (c.remedy != "") || of != nil && (of.Remedy != c.remedy || !strings.Contains(of.Found, "mode 07")) {
			t.Errorf("%s with mode %v: %v", c.open, c.mode, err)
		}
		if err := os.Chmod(c.open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := File(filepath.Join(folder, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestForeign(t *testing.T) {
	folder, program, _ := made(t)
	for _, path := range []string{program, folder} {
		if err := os.Chown(path, 4711, -1); err != nil {
			t.Skip("needs root")
		}
		var of *Error
		if err := File(program); !errors.As(err, &of) || of.Remedy != "chown root "+path || !strings.Contains(of.Found, "user 4711") {
			t.Errorf("%v", err)
		}
		if err := File(program, 4711); err != nil {
			t.Error(err)
		}
		if err := os.Chown(path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommand(t *testing.T) {
	folder, program, _ := made(t)
	if path, err := Command("sh " + program + " --all nothing"); err != nil || filepath.Base(path) != "sh" {
		t.Errorf("%s, %v", path, err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{program, "sh " + program, "sh -x " + program + " --all"} {
		if _, err := Command(command); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v", command, err)
		}
	}
	if _, err := Command("/nowhere/model"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
