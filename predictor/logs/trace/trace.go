// Package trace reads the jobs of logs for the simulator. It writes the simulator's schedules, and
// the logs of Slurm clusters. Logs are in the Standard Workload Format, plain or compressed with
// gzip.
package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
)

// Archive names the place to get logs from, for messages.
const Archive = "the Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/workload/"

// Options has what a log's header may lack.
type Options struct {
	Procs int32 // processors of the machine; 0: as the log's header says
}

// Trace is a log that is being read. Its memory does not depend on the length of the log.
type Trace struct {
	log     *swf.Reader
	again   func() (*swf.Reader, error) // opens the log a second time
	jobs    converter
	longest map[int32]int64 // by queue; nil until a job has no requested time
}

// Open opens the log at path. The caller closes it.
func Open(path string, o Options) (*Trace, error) {
	log, err := swf.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; logs can be had from %s", err, Archive)
	}
	if err != nil {
		return nil, err
	}
	return newTrace(path, log, func() (*swf.Reader, error) { return openAgain(path) }, o)
}

// openAgain opens a log for a second time. It fails for a pipe.
func openAgain(path string) (*swf.Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("trace: %s: a job has no requested time, and for the longest run of its queue the log must be read twice: save it to a file", path)
	}
	return swf.Open(path)
}

// newTrace returns a Trace of log; again opens the log for a second time. After an error the
// log is closed.
func newTrace(name string, log *swf.Reader, again func() (*swf.Reader, error), o Options) (*Trace, error) {
	procs := int64(o.Procs)
	if header := log.Header(); procs == 0 {
		procs = header.MaxProcs
		if procs == 0 {
			procs = header.MaxNodes
		}
	}
	if procs < 1 || procs > math.MaxInt32 {
		defer log.Close()
		if err := log.Read(new(swf.Record)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err // the file is no log at all
		}
		return nil, fmt.Errorf("trace: %s: the header does not say how many processors the machine has (MaxProcs): give the number with --procs", name)
	}
	return &Trace{log: log, again: again, jobs: newConverter(int32(procs))}, nil
}

// Close closes the log.
func (t *Trace) Close() error { return t.log.Close() }

// Procs returns the number of processors of the machine.
func (t *Trace) Procs() int32 { return t.jobs.procs }

// Header returns the log's header.
func (t *Trace) Header() swf.Header { return t.log.Header() }

// Progress returns the share of the log that has been read, or 0 if it is unknown.
func (t *Trace) Progress() float64 { return t.log.Progress() }

// Warnings returns the warnings about the lines read so far, by first line. A line that is
// left out is counted in exactly one warning that ends in "left out".
func (t *Trace) Warnings() []swf.Warning { return t.log.Warnings() }

// Jobs yields the log's jobs in the order of submission. Each job is yielded once, also
// over several calls. Times are the log's own.
//
// Procs is the number of allocated processors or, if unknown, of requested ones. Run is the
// run time. Limit is the requested time. If it is unknown, Limit is the longest run time of
// the log's jobs in the same queue, and the log is read a second time to find it. Limits are
// at least 1; Run may be longer than Limit. Submit is not before that of the previous job.
//
// Jobs leaves out the lines that a simulator cannot run: jobs that never ran, that need more
// processors than the machine has, or that have negative times, and parts of checkpointed
// jobs. Warnings counts everything odd.
//
// An error names the file, line and field, and ends the sequence.
func (t *Trace) Jobs() iter.Seq2[sched.Job, error] {
	return func(yield func(sched.Job, error) bool) {
		for {
			job, err := t.next()
			if errors.Is(err, io.EOF) || !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// next returns the next job, or io.EOF.
func (t *Trace) next() (sched.Job, error) {
	job, err := t.jobs.next(t.log)
	if err != nil || job.Limit > 0 {
		return job, err
	}
	if t.longest == nil {
		if t.longest, err = t.longestRuns(); err != nil {
			return sched.Job{}, err
		}
	}
	job.Limit = max(1, t.longest[job.Queue])
	return job, nil
}

// longestRuns reads the whole log and returns the longest run time of each queue, in
// seconds. It stands for the queue's maximum run time: "Maximum run times are typically
// given by the user or associated with a queue" (Smith 2000, section 3).
func (t *Trace) longestRuns() (map[int32]int64, error) {
	log, err := t.again()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	longest := make(map[int32]int64)
	jobs := newConverter(t.jobs.procs)
	for {
		job, err := jobs.next(log)
		if errors.Is(err, io.EOF) {
			return longest, nil
		}
		if err != nil {
			return nil, err
		}
		longest[job.Queue] = max(longest[job.Queue], job.Run)
	}
}
