package every

import (
	"bytes"
	"context"
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
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// store is the folder in which a user's series are, one file each. What is in it is run as her: it is hers alone.
type store struct{ dir string }

// ErrBusy is the error of a folder that another varq every changes all the time.
var ErrBusy = errors.New("another 'varq every' is at work; try again when it is done")

// patience is for how long one varq every waits for another: about as long as that takes to reserve all of a series.
const patience = time.Minute

// folder returns where the series of a user are, by the environment: XDG_STATE_HOME, else HOME.
func folder(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if state == "" {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set, so that nobody can tell where the series are")
		}
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return "", fmt.Errorf("XDG_STATE_HOME or HOME: %s is not an absolute path", state)
	}
	return filepath.Join(state, "varq", "every"), nil
}

// openStore returns the series in a folder. It creates the folder if create is true.
func openStore(dir string, create bool) (*store, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &store{dir}, nil
	} else if err != nil {
		return nil, err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s is not yours alone, and what is in it would be run as you: chmod 700 it, or remove it", dir)
	}
	return &store{dir}, nil
}

// lock keeps every other varq away that changes the folder, and waits for one that does so far, but no longer than patience. The file is to be
// inherited by sbatch: as long as that goes on, the folder is locked, even if this process is killed.
func (s *store) lock(ctx context.Context, patience time.Duration) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const again = 100 * time.Millisecond
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			select {
			case <-time.After(again):
				continue
			case <-ctx.Done():
				err = ErrBusy
			}
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", s.dir, err), f.Close())
	}
}

func (s *store) path(id string) string { return filepath.Join(s.dir, id+".json") }

// list returns all series by the time at which they were made. Files that cannot be read come as errors, and do not hide the others.
func (s *store) list() (all []*Series, broken []error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	f, err := os.Open(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no series %.20q; 'varq every list' has them all", id)
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
		return nil, fmt.Errorf("%s: %w", s.path(id), err)
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

// save writes a series: the file is the one before or the new one, whatever happens.
func (s *store) save(series *Series) error { return cli.SaveJSON(s.path(series.ID), series, 0o600) }

// remove forgets a series.
func (s *store) remove(id string) error {
	entries, err := os.ReadDir(s.dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), id+"-") { // of its occurrences
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, entry.Name())))
		}
	}
	return errors.Join(err, os.Remove(s.path(id)))
}

// ran notes that varq every run was here at a time, and lastRun tells when that was, 0 for never.
func (s *store) ran(at int64) error {
	return os.WriteFile(filepath.Join(s.dir, "last-run"), fmt.Appendln(nil, at), 0o600)
}

func (s *store) lastRun() (at int64) {
	text, err := os.ReadFile(filepath.Join(s.dir, "last-run"))
	if err == nil {
		_, _ = fmt.Sscan(string(text), &at)
	}
	return at
}
