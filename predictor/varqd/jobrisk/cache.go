package jobrisk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Dir returns the folder for the caches of this process's user: in $TMPDIR, else in /tmp.
func Dir(getenv func(string) string) string {
	temporary := getenv("TMPDIR")
	if !filepath.IsAbs(temporary) {
		temporary = "/tmp"
	}
	return filepath.Join(temporary, "varq-"+strconv.Itoa(os.Geteuid()))
}

// Bounds of a cache.
const (
	maxFile   = 64 << 10
	maxWithin = 64
	maxSpan   = 10 * 366 * 86400
	maxRate   = 1e6   // failures, and failures a second
	leastRate = 1e-15 // failures a second
	maxTime   = 1 << 40
	// keep is how long the caches of other jobs are kept.
	keep = 7 * 24 * time.Hour
)

// entry is what a cache has.
type entry struct {
	Nodes string    `json:"nodes"`
	Tried int64     `json:"tried,omitempty"` // when varqd last did not answer, Unix seconds
	Read  int64     `json:"read,omitempty"`  // when it told Risk, Unix seconds
	Risk  *api.Risk `json:"risk,omitempty"`
}

// parseEntry reads a cache. Whoever wrote it, times and rates are within their bounds.
func parseEntry(text []byte) (e entry, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return entry{}, err
	}
	if e.Risk != nil {
		err = check(e.Risk)
	}
	if err == nil && (e.Tried < 0 || e.Tried > maxTime || e.Read < 0 || e.Read > maxTime) {
		err = errors.New("a time is out of bounds")
	}
	if err != nil {
		return entry{}, err
	}
	return e, nil
}

// check returns an error if a risk is none.
func check(r *api.Risk) error {
	bounded := func(n float64) bool { return n >= 0 && n <= maxRate && !math.IsNaN(n) }
	if len(r.Within) > maxWithin || !bounded(r.Rate) || r.Rate < leastRate {
		return errors.New("the risk is out of bounds")
	}
	var last api.ExpectedFailures
	for _, w := range r.Within {
		if w.Within <= last.Within || w.Within > maxSpan || !bounded(w.Failures) || w.Failures < last.Failures {
			return errors.New("the risk does not grow with the time")
		}
		last = w
	}
	for _, at := range []int64{r.At, r.Since, int64(r.Failures), int64(r.Nodes)} {
		if at < 0 || at > maxTime {
			return errors.New("the risk is out of bounds")
		}
	}
	if m := r.Maintenance; m != nil && (m.Start < 0 || m.Start > maxTime) {
		return errors.New("the time of a maintenance is out of bounds")
	}
	if d := r.Drain; d != nil && (d.Since < 0 || d.Since > maxTime) {
		return errors.New("the time of a drain is out of bounds")
	}
	return nil
}

// cache is a job's file in a folder that belongs to the user alone.
type cache struct {
	dir        *os.Root
	path, name string
}

// openCache opens the folder, and makes it if need be. It refuses one that another user could have
// made or can write to.
func openCache(path, job string) (*cache, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("no cache: %w", err)
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("no cache: %w", err)
	}
	named, err := os.Lstat(path)
	if err == nil {
		var opened fs.FileInfo
		opened, err = dir.Stat(".")
		if err == nil && (!named.IsDir() || !os.SameFile(named, opened) || !own(opened) || opened.Mode().Perm()&0o077 != 0) {
			err = fmt.Errorf("%s is not a folder of yours alone: remove it, or set TMPDIR to a folder of your own", path)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no cache: %w", err), dir.Close())
	}
	return &cache{dir, path, "risk-" + job}, nil
}

func (c *cache) close() { _ = c.dir.Close() }

// own reports whether a file belongs to this process's user.
func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

// read returns what the file has, and nothing if there is no file.
func (c *cache) read() (e entry, err error) {
	info, err := c.dir.Lstat(c.name)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	path := filepath.Join(c.path, c.name)
	if err == nil && (!info.Mode().IsRegular() || !own(info)) {
		err = errors.New("it is not a file of yours")
	}
	if err != nil {
		return e, fmt.Errorf("the cache %s is not used: %w", path, err)
	}
	file, err := c.dir.Open(c.name)
	if err != nil {
		return e, fmt.Errorf("the cache is not used: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err == nil {
		e, err = parseEntry(text)
	}
	if err != nil {
		return e, fmt.Errorf("the cache %s is not used: %w", path, err)
	}
	return e, nil
}

// write replaces the file. When it is new, it removes those that no job has written for long.
func (c *cache) write(e *entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := c.dir.Lstat(c.name); errors.Is(err, fs.ErrNotExist) {
		c.tidy()
	}
	next := c.name + "." + strconv.Itoa(os.Getpid())
	if err := c.dir.WriteFile(next, text, 0o600); err != nil {
		return errors.Join(fmt.Errorf("the cache cannot be written: %w", err), c.dir.Remove(next))
	}
	if err := c.dir.Rename(next, c.name); err != nil {
		return errors.Join(fmt.Errorf("the cache cannot be written: %w", err), c.dir.Remove(next))
	}
	return nil
}

func (c *cache) tidy() {
	const most = 1000
	dir, err := c.dir.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	list, _ := dir.ReadDir(most)
	for _, file := range list {
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > keep {
			_ = c.dir.Remove(file.Name())
		}
	}
}
