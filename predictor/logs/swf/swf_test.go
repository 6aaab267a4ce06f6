package swf

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

const sample = `; Version: 2.2
; Computer: IBM p655/p690
; MaxProcs: 1664 (72, 1368, 224)
; MaxNodes: 208 (free text)
; UnixStartTime: 1000000
; Queue:  1 normal
; Queue:  2 high,
; Partition: 3 main
; Partition: 4 UNKNOWN
; Partition: 5 UNKNOWN

    1   100   50   600   32 969.56    -1   32  1200    -1  1  14  10  -1  1  3 -1 -1
    2   110   70    -1   -1     -1    -1   16   900  2048  5  15  -1  -1  2  4 -1 -1
    3   120    0     0    8     -1    -1   -1    -1    -1  0  -1  -1  -1 -1 -1 -1 -1
	4   130   -1   300    1     -1    -1   -1    -1    -1 -1  14  -1  -1  1 -1 -1 -1
`

func read(t *testing.T, log string) ([]workload.Job, *Reader, error) {
	t.Helper()
	r, err := NewReader("log.swf", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	var jobs []workload.Job
	for job, err := range r.Jobs() {
		if err != nil {
			return jobs, r, err
		}
		jobs = append(jobs, job)
	}
	return jobs, r, nil
}

func TestJobs(t *testing.T) {
	got, r, err := read(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Job{
		{
			ID: 1,
			Request: workload.Request{
				User: "user14", Account: "group10", Partition: "main", QOS: "normal",
				Size: workload.Size{Nodes: 4, CPUs: 32}, Limit: 1200,
			},
			Submit: 1000100, Eligible: 1000100, Start: 1000150, End: 1000750, State: workload.Completed,
		},
		{
			ID: 2, // cancelled after 70 s in the queue
			Request: workload.Request{
				User: "user15", Partition: "partition4", QOS: "high",
				Size: workload.Size{Nodes: 2, CPUs: 16, Memory: 32}, Limit: 900,
			},
			Submit: 1000110, Eligible: 1000110, End: 1000180, State: workload.Cancelled,
		},
		{
			ID:      3, // failed at once
			Request: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 8}},
			Submit:  1000120, Eligible: 1000120, Start: 1000120, End: 1000120, State: workload.Failed,
		},
		{
			ID:      4, // unknown wait and partition: the queue counts as the partition
			Request: workload.Request{User: "user14", Partition: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}},
			Submit:  1000130, Eligible: 1000130, State: workload.Completed,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	header := r.Header()
	if header.MaxProcs != 1664 || header.MaxNodes != 208 || header.Computer != "IBM p655/p690" || len(header.Notice) != 10 {
		t.Errorf("header %+v", header)
	}
	if w := r.Warnings(); w != nil {
		t.Errorf("warnings %v", w)
	}
}

func TestErrors(t *testing.T) {
	const line = "1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
	for _, c := range []struct{ log, want string }{
		{line + "\n2 x", `swf: log.swf:3: field 2 (submit time): bad number "x"`},
		{"; c\n1 2 3\n", "swf: log.swf:2: 3 fields, want 18"},
		{"1 0 1 1 1 1 1 1 1- 1 1", `swf: log.swf:1: field 9 (requested time): bad number "1-"`},
		{"1 0 1 1 1 1.x 1 1 1 1 1", `swf: log.swf:1: field 6 (average CPU time): bad number "1.x"`},
		{"1 0 1 1 99999999999 1 1 1 1 1 1", "swf: log.swf:1: field 5 (allocated processors): 99999999999 is too large"},
		{"1 1234567890123456789 1 1 1 1 1 1 1 1 1", `swf: log.swf:1: field 2 (submit time): bad number "1234567890123456789"`},
		{line + strings.Repeat("1 ", maxLine), "swf: log.swf:2: line longer than 65536 bytes"},
		{line + ";" + strings.Repeat("x", maxLine), "swf: log.swf:2: line longer than 65536 bytes"},
	} {
		_, _, err := read(t, c.log)
		if err == nil || err.Error() != c.want {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	jobs, r, err := read(t, `1 9 1 1 1 1 1 1 1 1 1
2 8 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 19
3 8 -7 5 -1 -1 -1 -1 1 1 1 1 1 1 1 1 1 1
4 7 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
`)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	want := []string{
		"line 1: fewer than 18 fields; the rest is taken as unknown",
		"line 2: field 3 (wait time): 1 has a fraction; dropped",
		"line 2: more than 18 fields; the rest is ignored",
		"line 2: field 2 (submit time): 8 is before the line above (2 such lines)",
		"line 3: field 3 (wait time): -7 is negative; taken as unknown",
		"line 3: field 5 (allocated processors): -1 and no requested processors: ran on none",
	}
	var got []string
	for _, w := range r.Warnings() {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Numbers that are too large are unknown in fields that no forecast needs, such as memory in bytes.
func TestSpareFields(t *testing.T) {
	jobs, r, err := read(t, `1 0 1 1 4 1 1 4 60 8589934592 1 1 1 1 1 1 -1 -1
2 0 1 1 4 1 1 4 60 17179869184 1 1 1 1 1 1 -1 -1
3 0 1 1 4 18446744073709551614 18446744073709551614 4 60 2048 1 1 1 18446744073709551614 1 1 18446744073709551614 18446744073709551614
`)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if jobs[0].Memory != 0 || jobs[1].Memory != 0 || jobs[2].Memory != 8 || jobs[1].CPUs != 4 {
		t.Errorf("%+v", jobs)
	}
	var got []string
	for _, w := range r.Warnings() {
		got = append(got, w.String())
	}
	if diff := cmp.Diff([]string{
		"line 1: field 10 (requested memory): 8589934592 is too large; taken as unknown (2 such lines)",
		"line 3: field 6 (average CPU time): a number of more than 18 digits; taken as unknown",
		"line 3: field 7 (used memory): a number of more than 18 digits; taken as unknown",
		"line 3: field 14 (executable): a number of more than 18 digits; taken as unknown",
		"line 3: field 17 (preceding job): a number of more than 18 digits; taken as unknown",
		"line 3: field 18 (think time): a number of more than 18 digits; taken as unknown",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, log := range []string{"1 0 1 1 4 1 1 4 99999999999999 1 1", "1 0 1 1 4 1 1 4 60 4G 1", "1 18446744073709551614 1 1 4 1 1 4 60 1 1"} {
		if _, _, err := read(t, log); err == nil {
			t.Errorf("%s is read", log)
		}
	}
}

func TestGzip(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, sample)
	w.Close()
	path := filepath.Join(t.TempDir(), "log.swf.gz")
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 4 || r.Progress() != 1 {
		t.Errorf("%d records, %v of the file", n, r.Progress())
	}

	cut := zipped.Bytes()[:zipped.Len()-12]
	if r, err = NewReader("cut.gz", bytes.NewReader(cut)); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range r.Records() {
		last = err
	}
	if !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("of a log cut short: %v", last)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("1 0 1 1 1 1.5 1 1 1 1 1"))
	f.Add([]byte("1 0 1 1 4 1 18446744073709551614 4 60 8589934592 1"))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("fuzz", bytes.NewReader(log))
		if err != nil {
			return
		}
		for job, err := range r.Jobs() {
			if err != nil {
				return
			}
			if job.End != 0 && job.End < job.Start || job.CPUs < 0 || job.Nodes < 0 || job.Limit < 0 {
				t.Fatalf("%+v", job)
			}
		}
	})
}

func benchLog(lines int) []byte {
	var log bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&log, "%6d %9d %7d %6d %4d %6d.%02d %6d %4d %6d %4d  1 %3d %3d %3d %2d %2d -1 -1\n",
			i, 100*i, i%5000, 7*i%9000, 1+i%512, 6*i%9000, i%100, 1000+i%7000, 1+i%512, 60*(1+i%1000), -1, i%400, i%40, i%99, i%5, i%3)
	}
	return log.Bytes()
}

// BenchmarkRead reads the records of a plain log of 100,000 lines.
func BenchmarkRead(b *testing.B) {
	benchmarkReader(b, 100_000, func(r *Reader) (n int, err error) {
		var record Record
		for err = r.Read(&record); err == nil; err = r.Read(&record) {
			n++
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return n, err
	})
}

// BenchmarkJobs reads the jobs of a plain log of 10,000 lines.
func BenchmarkJobs(b *testing.B) {
	benchmarkReader(b, 10_000, func(r *Reader) (n int, err error) {
		for _, err := range r.Jobs() {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	})
}

// benchmarkReader measures read, which returns the number of lines that it has read.
func benchmarkReader(b *testing.B, lines int, read func(*Reader) (int, error)) {
	log := benchLog(lines)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		r, err := NewReader("bench", bytes.NewReader(log))
		if err != nil {
			b.Fatal(err)
		}
		if n, err := read(r); n != lines || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
}
