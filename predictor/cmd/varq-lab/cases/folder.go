package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/study"
)

// Setting is what the outcomes in one folder have in common. Together with the name and
// the seed of a case it determines the outcome.
type Setting struct {
	Version string `json:"version"` // of varq
	Study   string `json:"study"`
	Quick   bool   `json:"quick"`
	Traces  string `json:"traces,omitempty"` // the folder with the logs
	// Failures is the file with the failures of nodes, if it is not one of that folder.
	Failures string `json:"failures,omitempty"`
}

// Folder keeps the outcomes of one study: the setting in study.json, and a file
// for each case in the folder cases. Several machines may write to it at once.
type Folder struct{ dir string }

// The folder's files.
const (
	settingFile = "study.json"
	casesDir    = "cases"
	slurmDir    = "slurm"
)

// mostBytes bounds the files that are read.
const mostBytes = 1 << 20

// Open opens the folder dir, and makes it if it does not exist. It fails if the folder has
// outcomes of another setting.
func Open(dir string, s Setting) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, casesDir), 0o777); err != nil {
		return nil, err
	}
	f := &Folder{dir}
	var found Setting
	switch err := read(f.Path(settingFile), &found); {
	case errors.Is(err, fs.ErrNotExist):
		return f, cli.SaveJSON(f.Path(settingFile), s, 0o644)
	case err != nil:
		return nil, err
	case found != s:
		return nil, fmt.Errorf("%s holds another study: %s, and not %s; name another folder, or remove it", dir, found, s)
	}
	return f, nil
}

// String describes the setting.
func (s Setting) String() string {
	text := s.Study
	if s.Quick {
		text += " --quick"
	}
	if s.Traces != "" {
		text += " on the logs in " + s.Traces
	}
	if s.Failures != "" {
		text += " with the failures in " + s.Failures
	}
	return text + " by varq " + s.Version
}

// Path returns the absolute name of a file in the folder, or of the folder itself.
func (f *Folder) Path(elem ...string) string {
	return filepath.Join(append([]string{f.dir}, elem...)...)
}

// file returns the name of the file that keeps a case's outcome.
func (f *Folder) file(c study.Case) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-+.,=%", r):
			return r
		}
		return '_'
	}, c.Name)
	return f.Path(casesDir, name+"_seed"+strconv.FormatUint(c.Seed, 10)+".json")
}

// load returns the values of a case, or nil if it has no outcome yet.
func (f *Folder) load(c study.Case) (study.Values, error) {
	var o study.Outcome
	err := read(f.file(c), &o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if o.Case != c || o.Values == nil {
		return nil, fmt.Errorf("%s: is not the outcome of the case %s with seed %d: remove it", f.file(c), c.Name, c.Seed)
	}
	return o.Values, nil
}

func (f *Folder) save(o study.Outcome) error {
	if o.Values == nil {
		o.Values = study.Values{}
	}
	return cli.SaveJSON(f.file(o.Case), o, 0o644)
}

func read(name string, v any) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostBytes))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
