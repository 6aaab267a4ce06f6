package every

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// store is the folder in which a user's series are, one file each. What is in it is run as her: it
// is hers alone, and everything in it is opened by way of the folder that was found to be so,
// wherever its name leads by then.
type store struct {
	dir  string
	root *os.Root // nil if there is no such folder
}

// folder returns where the series of a user are, by the environment.
func folder(env *cli.Env) (string, error) { return env.StateFolder("every", "series") }

// openStore returns the series in a folder. It creates the folder if create is true.
func openStore(dir string, create bool) (*store, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &store{dir, nil}, nil
	} else if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
			err = fmt.Errorf("%s is not yours alone, and what is in it would be run as you: chmod 700 it, or remove it", dir)
		}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &store{dir, root}, nil
}

func (s *store) close() {
	if s.root != nil {
		_ = s.root.Close()
	}
}

// path returns where a file is, for messages and for other programs.
func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

func fileOf(id string) string { return id + ".json" }

// list returns all series by the time at which they were made. Files that cannot be read come as
// errors, and do not hide the others.
func (s *store) list() (all []*Series, broken []error) {
	if s.root == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, []error{err}
	}
	for _, entry := range entries {
		id, isJSON := strings.CutSuffix(entry.Name(), ".json")
		if !isJSON || !validID.MatchString(id) {
			continue
		}
		if len(all) == maxSeries {
			return all, append(broken, fmt.Errorf("%s: there are more than %d series; the others are left out", s.dir, maxSeries))
		}
		one, err := s.load(id)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b *Series) int { return int(a.Made - b.Made) })
	return all, broken
}

// load returns one series.
func (s *store) load(id string) (*Series, error) {
	none := fmt.Errorf("there is no series %.20q; 'varq every list' has them all", id)
	if s.root == nil {
		return nil, none
	}
	f, err := s.root.Open(fileOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	series, err := decode(text)
	if err == nil && series.ID != id {
		err = fmt.Errorf("id: it is %.20q, and the file is another's", series.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(fileOf(id)), err)
	}
	return series, nil
}

// decode reads a file.
func decode(text []byte) (*Series, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("longer than %d bytes", maxBytes)
	}
	series := new(Series)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(series); err != nil {
		return nil, err
	}
	return series, nil
}

// save writes a series.
func (s *store) save(series *Series) error { return s.write(fileOf(series.ID), series) }

// remove forgets a series.
func (s *store) remove(id string) error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), id+"-") { // of its occurrences
			err = errors.Join(err, s.root.Remove(entry.Name()))
		}
	}
	return errors.Join(err, s.root.Remove(fileOf(id)))
}

// part writes v into a file that nobody has seen yet, and returns its name.
func (s *store) part(v any) (name string, err error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	name = ".new-" + rand.Text()
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, s.root.Remove(name))
	}
	return name, nil
}

// write replaces a file: it is the one before or the new one, whatever happens.
func (s *store) write(name string, v any) error {
	part, err := s.part(v)
	if err != nil {
		return err
	}
	if err := s.root.Rename(part, name); err != nil {
		return errors.Join(err, s.root.Remove(part))
	}
	return nil
}

// ran notes that varq every run was here at a time, and lastRun tells when that was, 0 for never.
func (s *store) ran(at int64) error {
	return s.root.WriteFile("last-run", fmt.Appendln(nil, at), 0o600)
}

func (s *store) lastRun() (at int64) {
	text, err := s.root.ReadFile("last-run")
	if err == nil {
		_, _ = fmt.Sscan(string(text), &at)
	}
	return at
}
