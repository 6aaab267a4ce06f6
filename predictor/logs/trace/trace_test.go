package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/golden"
)

// openBytes opens a log in memory.
func openBytes(log []byte, o Options) (*Trace, error) {
	openLog := func() (*swf.Reader, error) { return swf.NewReader("log.swf", bytes.NewReader(log)) }
	reader, err := openLog()
	if err != nil {
		return nil, err
	}
	return newTrace("log.swf", reader, openLog, o)
}

func all(t *Trace) (jobs []sched.Job, err error) {
	for job, err := range t.Jobs() {
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// readAll opens the log at path and returns it with all its jobs.
func readAll(t *testing.T, path string) (*Trace, []sched.Job) {
	t.Helper()
	trace, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trace.Close() })
	jobs, err := all(trace)
	if err != nil {
		t.Fatal(err)
	}
	return trace, jobs
}

// TestOdd reads a log with every kind of oddity. odd.golden has its jobs and warnings.
func TestOdd(t *testing.T) {
	trace, jobs := readAll(t, filepath.Join("testdata", "odd.swf"))
	var got strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&got, "job %d: submit %d procs %d run %d limit %d user %d group %d app %d queue %d partition %d\n",
			j.ID, j.Submit, j.Procs, j.Run, j.Limit, j.User, j.Group, j.App, j.Queue, j.Partition)
	}
	for _, w := range trace.Warnings() {
		fmt.Fprintln(&got, w)
	}
	file := filepath.Join("testdata", "odd.golden")
	want := golden.Want(t, file, []byte(got.String()))
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got; -update accepts):\n%s", diff)
	}
}

const line = "1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"

func TestProcs(t *testing.T) {
	for _, c := range []struct {
		log  string
		o    Options
		want int32
	}{
		{"; MaxProcs: 1664 (72, 1368, 224)\n; MaxNodes: 184\n", Options{}, 1664},
		{"; MaxNodes: 184\n", Options{}, 184},
		{"; MaxNodes: 184\n", Options{Procs: 3}, 3},
		{"", Options{Procs: 3}, 3},
		{"", Options{}, 0},
		{"", Options{Procs: -1}, 0},
		{"; MaxProcs: 4294967296\n", Options{}, 0},
	} {
		trace, err := openBytes([]byte(c.log+line), c.o)
		switch {
		case c.want == 0 && err == nil:
			t.Errorf("%q %+v: no error", c.log, c.o)
		case c.want > 0 && (err != nil || trace.Procs() != c.want):
			t.Errorf("%q %+v: %v, want %d", c.log, c.o, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	const machine = "; MaxProcs: 4\n"
	for _, c := range []struct{ name, log, want string }{
		{"bad field", machine + line + "2 x\n", `swf: log.swf:3: field 2 (submit time): bad number "x"`},
		{"cut short", machine + line + "2 0 1 1", "swf: log.swf:3: 4 fields, want 18"},
		{"a page instead", "<!DOCTYPE html>\n", `swf: log.swf:1: field 1 (job number): bad number "<!DOCTYPE"`},
		{"a program instead", "\x7fELF\x02\x01", `swf: log.swf:1: field 1 (job number): bad number "\x7fELF\x02\x01"`},
		{"gzip in name only", "\x1f\x8b no gzip", "swf: log.swf: gzip: invalid header"},
		{
			"found by the second pass", machine + "1 0 1 1 1 1 1 1 -1 1 1\n" + line + "x",
			`swf: log.swf:4: field 1 (job number): bad number "x"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace, err := openBytes([]byte(c.log), Options{})
			if err == nil {
				_, err = all(trace)
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
	_, err := Open(filepath.Join(t.TempDir(), "none.swf"), Options{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "Parallel Workloads Archive") {
		t.Errorf("of a missing file: %v", err)
	}
}

func TestGzipCutShort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	for range 1000 {
		fmt.Fprintf(w, "1 0 1 %d 1 1 1 1 %d 1 1 1 1 1 1 1 1 1\n", random.IntN(9999), 1+random.IntN(9999))
	}
	w.Close()
	trace, err := openBytes(zipped.Bytes()[:zipped.Len()/2], Options{Procs: 4})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := all(trace)
	want := fmt.Sprintf("swf: log.swf:%d: the compressed file is cut short, get it again: unexpected EOF", len(jobs)+1)
	if len(jobs) == 0 || err == nil || err.Error() != want {
		t.Errorf("after %d jobs\n got %v\nwant %s", len(jobs), err, want)
	}
}

// TestOnce: a trace yields its jobs once.
func TestOnce(t *testing.T) {
	trace, err := openBytes([]byte(line+line), Options{Procs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range trace.Jobs() {
		break
	}
	if jobs, err := all(trace); len(jobs) != 1 || err != nil {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	if jobs, err := all(trace); len(jobs) != 0 || err != nil {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// TestPipe: a pipe whose jobs lack a requested time is an error, as it cannot be read twice.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	go os.WriteFile(path, []byte(line+"2 0 1 1 1 1 1 1 -1 1 1\n"), 0)
	trace, err := Open(path, Options{Procs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	if jobs, err := all(trace); len(jobs) != 1 || err == nil || !strings.Contains(err.Error(), "must be read twice") {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// TestRequests: requests equal those of swf.Reader.Jobs.
func TestRequests(t *testing.T) {
	log := []byte(`; MaxProcs: 64
; MaxNodes: 16
; Queue: 1 short
; Partition: 2 batch
1 0 1 1 32 1 1 32 600 -1 1 7 3 1 1 2 -1 -1
2 0 1 1 1 1 1 1 60 -1 1 -1 -1 -1 4 -1 -1 -1
`)
	reader, err := swf.NewReader("log.swf", bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	var want []workload.Request
	for job := range reader.Jobs() {
		want = append(want, job.Request)
	}
	trace, err := openBytes(log, Options{})
	if err != nil {
		t.Fatal(err)
	}
	request := Requests(trace.Header())
	var got []workload.Request
	for job := range trace.Jobs() {
		got = append(got, request(&job))
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plain := Requests(swf.Header{})(&sched.Job{Procs: 3, Limit: 9, User: -1, Group: -1, Queue: -1, Partition: -1})
	if diff := cmp.Diff(workload.Request{Size: workload.Size{Nodes: 3, CPUs: 3}, Limit: 9}, plain); diff != "" {
		t.Errorf("of no log (-want +got):\n%s", diff)
	}
}

func FuzzJobs(f *testing.F) {
	odd, err := os.ReadFile(filepath.Join("testdata", "odd.swf"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(odd)
	f.Add([]byte(line))
	f.Add([]byte("1 1099511627776 1 1099511627776 1 1 1 1 -1 1 1\n"))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, log []byte) {
		trace, err := openBytes(log, Options{Procs: 400})
		if err != nil {
			return
		}
		lines, err := countRecords(log)
		newest, jobs := int64(0), 0
		for j, jobErr := range trace.Jobs() {
			if jobErr != nil {
				if err == nil {
					t.Fatal(jobErr)
				}
				return
			}
			if j.Submit < newest || j.Procs < 1 || j.Procs > 400 || j.Run < 0 || j.Limit < 1 || j.Submit+j.Run < 0 ||
				min(j.User, j.Group, j.App, j.Queue, j.Partition) < -1 {
				t.Fatalf("%+v after %d", j, newest)
			}
			newest = j.Submit
			jobs++
		}
		for _, w := range trace.Warnings() {
			if strings.HasSuffix(w.Text, "left out") {
				jobs += w.Count
			}
		}
		if err == nil && jobs != lines {
			t.Fatalf("%d jobs and lines left out, of %d lines: %v", jobs, lines, trace.Warnings())
		}
	})
}

func countRecords(log []byte) (n int, err error) {
	r, err := swf.NewReader("log.swf", bytes.NewReader(log))
	if err != nil {
		return 0, err
	}
	for _, err := range r.Records() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
