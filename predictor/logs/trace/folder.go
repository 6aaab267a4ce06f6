package trace

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
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

// Ran returns the jobs of the log of that name as swf.Reader.Jobs does. The sequence may be read
// several times; each reading opens the file.
func (f Folder) Ran(name string) (iter.Seq2[workload.Job, error], error) {
	path, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return func(yield func(workload.Job, error) bool) {
		log, err := swf.Open(path)
		if err != nil {
			yield(workload.Job{}, err)
			return
		}
		defer log.Close()
		log.Jobs()(yield)
	}, nil
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
