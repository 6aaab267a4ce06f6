package trace

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/failures"
	"github.com/varq-project/varq/predictor/workload"
)

// Folder is a folder with logs, named as in the archive.
type Folder string

// Open returns the jobs of the log of that name, as Trace.Jobs does, and the number of
// processors of its machine. The name "CTC-SP2-1996" stands for the last, by name, of the
// files CTC-SP2-1996-*.swf and CTC-SP2-1996-*.swf.gz. The sequence may be read several
// times; each reading opens the file.
func (f Folder) Open(name string) (jobs iter.Seq2[sched.Job, error], procs int32, err error) {
	path, err := f.find(name)
	if err != nil {
		return nil, 0, err
	}
	trace, err := Open(path, Options{})
	if err != nil {
		return nil, 0, err
	}
	defer trace.Close()
	return func(yield func(sched.Job, error) bool) {
		trace, err := Open(path, Options{})
		if err != nil {
			yield(sched.Job{}, err)
			return
		}
		defer trace.Close()
		trace.Jobs()(yield)
	}, trace.Procs(), nil
}

// Requests returns the function Requests for the header of the log of that name.
func (f Folder) Requests(name string) (func(*sched.Job) workload.Request, error) {
	path, err := f.find(name)
	if err != nil {
		return nil, err
	}
	trace, err := Open(path, Options{})
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	return Requests(trace.Header()), nil
}

// LosAlamos is where Los Alamos' log of failures can be had from.
const LosAlamos = "https://www.usenix.org/cfdr"

// Failures returns the nodes of a system of Los Alamos, and their failures by Down, from the last, by
// name, of the files failures/LANL-*.csv and failures/LANL-*.csv.gz.
func (f Folder) Failures(system string) (nodes []string, log []workload.Failure, err error) {
	found := ""
	for _, ending := range []string{".csv", ".csv.gz"} {
		files, err := filepath.Glob(filepath.Join(string(f), "failures", "LANL-*"+ending))
		if err != nil {
			return nil, nil, fmt.Errorf("trace: no failures: %w", err)
		}
		for _, file := range files {
			found = max(found, file)
		}
	}
	if found == "" {
		return nil, nil, fmt.Errorf("trace: no failures LANL-*.csv or .csv.gz in the folder %s; they can be had from %s", filepath.Join(string(f), "failures"), LosAlamos)
	}
	systems, err := failures.Open(found, time.UTC)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range systems {
		if s.Name == system {
			return s.Nodes, s.Failures, nil
		}
	}
	return nil, nil, fmt.Errorf("trace: %s has no system %s", found, system)
}

func (f Folder) find(name string) (path string, err error) {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return "", fmt.Errorf("trace: no log %s: %w; it can be had from %s", name, err, Archive)
	}
	found := ""
	for _, entry := range entries {
		version, ok := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".gz"), name)
		if ok && strings.HasSuffix(version, ".swf") && (version[0] == '-' || version[0] == '.') {
			found = entry.Name() // ReadDir sorts by name, so the last version is found
		}
	}
	if found == "" {
		return "", fmt.Errorf("trace: no log %s-*.swf or .swf.gz in the folder %s; it can be had from %s", name, f, Archive)
	}
	return filepath.Join(string(f), found), nil
}
