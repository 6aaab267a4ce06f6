package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/logs/swf"
)

// asRead compares only the fields that a trace reads.
var asRead = cmp.Options{cmpopts.IgnoreUnexported(sched.Job{}), cmpopts.IgnoreFields(sched.Job{}, "Start", "End", "Estimate")}

var header = swf.Header{Computer: "made up", MaxProcs: 400, MaxJobs: 99, Queues: map[int64]string{1: "short", 2: "long"}}

// finished returns jobs as a simulator leaves them.
func finished() []sched.Job {
	return []sched.Job{
		{ID: 2, Submit: 10, Limit: 600, Run: 700, Procs: 400, User: 1, Group: 2, App: 3, Queue: 2, Partition: -1, Start: 100, End: 700},
		{ID: 1, Submit: 0, Limit: 60, Estimate: 30, Run: 20, Procs: 1, User: -1, Group: -1, App: -1, Queue: -1, Partition: -1, Start: 0, End: 20},
		{ID: 3, Submit: 10, Limit: 60, Run: 0, Procs: 1, User: 1, Group: 2, App: 3, Queue: 1, Partition: 4, Start: 10, End: 10},
	}
}

func write(t testing.TB, path string, jobs []sched.Job) {
	t.Helper()
	s, err := CreateSchedule(path, header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		s.Add(&jobs[i])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// content returns the content of path, which must be the only file of its folder.
func content(t *testing.T, path string) string {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func TestSchedule(t *testing.T) {
	const wantSWF = `; Version: 2.2
; Computer: made up
; Note: a schedule simulated by varq: waits and run times did not happen
; MaxProcs: 400
; Queue:  1 short
; Queue:  2 long
    1        0      0     20    1     -1    -1    1     60    -1  1  -1  -1    -1 -1 -1 -1 -1
    2       10     90    600  400     -1    -1  400    600    -1  0   1   2     3  2 -1 -1 -1
    3       10      0      0    1     -1    -1    1     60    -1  1   1   2     3  1  4 -1 -1
`
	const wantCSV = `job,submit,start,end,procs,limit,run,user,group,app,queue,partition
1,0,0,20,1,60,20,-1,-1,-1,-1,-1
2,10,100,700,400,600,700,1,2,3,2,-1
3,10,10,10,1,60,0,1,2,3,1,4
`
	for ending, want := range map[string]string{".swf": wantSWF, ".swf.gz": wantSWF, ".csv": wantCSV, ".csv.gz": wantCSV} {
		path := filepath.Join(t.TempDir(), "schedule"+ending)
		write(t, path, finished())
		if diff := cmp.Diff(want, content(t, path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", ending, diff)
		}
	}
}

// TestRoundTrip: a trace of a schedule has the same jobs.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	jobs := make([]sched.Job, 500)
	for i := range jobs {
		number := func() int32 { return int32(random.IntN(20)) - 1 }
		j := sched.Job{
			ID: int64(i), Submit: int64(10 * (i / 3)), Limit: 1 + random.Int64N(9000), Procs: 1 + random.Int32N(400),
			User: number(), Group: number(), App: number(), Queue: number(), Partition: number(),
		}
		j.Run = random.Int64N(j.Limit + 1)
		j.Start = j.Submit + random.Int64N(1e6)
		j.End = j.Start + j.Run
		jobs[i] = j
	}
	mixed := append([]sched.Job{}, jobs...)
	random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	path := filepath.Join(t.TempDir(), "schedule.swf.gz")
	write(t, path, mixed)
	trace, got := readAll(t, path)
	if diff := cmp.Diff(jobs, got, asRead); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w := trace.Warnings(); len(w) > 0 || trace.Procs() != 400 {
		t.Errorf("%d processors, %v", trace.Procs(), w)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(1), int64(0), int64(60), int64(20), int32(1), int32(-1), int64(5))
	f.Add(int64(-1), int64(1<<39), int64(1<<40), int64(1<<40), int32(400), int32(1<<31-1), int64(1<<40))
	f.Fuzz(func(t *testing.T, id, submit, limit, run int64, procs, number int32, wait int64) {
		const most = 1 << 40 // the largest number of seconds in a log
		id = max(-1e17, min(id, 1e17))
		submit, limit, wait = max(0, min(submit, most)), max(1, min(limit, most)), max(0, min(wait, most))
		run = max(0, min(run, limit))
		procs, number = max(1, min(procs, 400)), max(-1, number)
		job := sched.Job{
			ID: id, Submit: submit, Limit: limit, Run: run, Procs: procs, Start: submit + wait, End: submit + wait + run,
			User: number, Group: number, App: number, Queue: number, Partition: number,
		}
		var log bytes.Buffer
		if err := writeSWF(&log, &header, []row{rowOf(&job)}); err != nil {
			t.Fatal(err)
		}
		trace, err := openBytes(log.Bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(trace)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]sched.Job{job}, got, asRead); diff != "" || trace.Warnings() != nil {
			t.Errorf("%v (-want +got):\n%s", trace.Warnings(), diff)
		}
	})
}

// TestUnfinished: a schedule has its name only when it is complete.
func TestUnfinished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedule.csv")
	write(t, path, finished()[:1])
	before := content(t, path)

	s, err := CreateSchedule(path, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if content(t, path) != before {
		t.Error("discarded, but the schedule is another")
	}

	s, err = CreateSchedule(path, header)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(&finished()[0])
	s.file.file.Close() // so that writes fail
	if err := s.Close(); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if content(t, path) != before {
		t.Error("not written, but the schedule is another")
	}

	if _, err := CreateSchedule(filepath.Join(t.TempDir(), "none", "s.csv"), header); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for _, name := range []string{"schedule", "schedule.txt", "schedule.gz", "swf"} {
		if _, err := CreateSchedule(filepath.Join(t.TempDir(), name), header); err == nil || !strings.Contains(err.Error(), "must end in .swf") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// full is a full disk.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, syscall.ENOSPC
	}
	f.room -= len(p)
	return len(p), nil
}

// TestFullDisk: a full disk is an error at every point of the writing.
func TestFullDisk(t *testing.T) {
	rows := make([]row, 3000)
	for name, format := range map[string]func(io.Writer, *swf.Header, []row) error{"swf": writeSWF, "csv": writeCSV} {
		var whole bytes.Buffer
		if err := format(&whole, &header, rows); err != nil {
			t.Fatal(err)
		}
		for room := 0; room < whole.Len(); room += whole.Len()/7 - 1 {
			if err := format(&full{room}, &header, rows); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s with room for %d of %d bytes: %v", name, room, whole.Len(), err)
			}
		}
	}
}
