package trace

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/workload"
)

const sacctColumns = "JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES\n"

func fromSacct(t *testing.T, lines string) *SlurmLog {
	t.Helper()
	log, err := FromSlurm(sacct.Records("jobs.txt", strings.NewReader(sacctColumns+lines), time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// slurmJobs are 8 jobs for the log, in the order of sacct.
const slurmJobs = `12|bob|chem|main|normal|COMPLETED|1000|1500|1600|1700|10|cpu=4|cpu=6
11|alice|phys|gpu|high|FAILED|1000|1100|1200|1300|60|cpu=2|cpu=2
13|alice|chem|main|normal|CANCELLED by 7|1500|1500|1650|1660|UNLIMITED|cpu=1|cpu=1
14|bob|chem|main,gpu|normal|CANCELLED|1800|1800|1900|1900|10|cpu=4|
15|bob|chem|main|normal|REQUEUED|1550|1550|1700|1750|Partition_Limit|cpu=4|cpu=4
15|bob|chem|main|normal|TIMEOUT|1750|1750|1750|2350|10|cpu=4|cpu=4
16|||||NODE_FAIL|1760|Unknown|1770|1770|10||cpu=9
17|bob|chem|main|normal|OUT_OF_MEMORY|1765|1790|1780|1800|10|cpu=1|cpu=1
`

func TestFromSlurm(t *testing.T) {
	log := fromSacct(t, slurmJobs)
	if log.Ran != 7 || log.Cancelled != 1 || log.Pending+log.Running+log.Odd != 0 || log.Peak != 9 {
		t.Errorf("got %+v", log)
	}
	var got bytes.Buffer
	if err := log.Write(&got, 12); err != nil {
		t.Fatal(err)
	}
	const want = `; Version: 2.2
;` + fromSlurm + `
; UnixStartTime: 1100
; MaxProcs: 12
; MaxJobs: 8
; MaxRecords: 8
; Queue:  1 normal
; Queue:  2 high
; Partition:  1 main
; Partition:  2 gpu
; Partition:  3 main,gpu
    1        0    100    100    2     -1    -1    2   3600    -1  0   2   2    -1  2  2 -1 -1
    2      400    100    100    6     -1    -1    4    600    -1  1   1   1    -1  1  1 -1 -1
    3      400    150     10    1     -1    -1    1     -1    -1  5   2   1    -1  1  1 -1 -1
    4      450    150     50    4     -1    -1    4     -1    -1  0   1   1    -1  1  1 -1 -1
    5      650      0    600    4     -1    -1    4    600    -1  0   1   1    -1  1  1 -1 -1
    6      660     10      0    9     -1    -1    9    600    -1  0  -1  -1    -1 -1 -1 -1 -1
    7      680      0     20    1     -1    -1    1    600    -1  0   1   1    -1  1  1 -1 -1
    8      700    100     -1   -1     -1    -1    4    600    -1  5   1   1    -1  1  3 -1 -1
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSlurmRoundTrip writes a log and opens it as the simulator does.
func TestSlurmRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.swf.gz")
	file, err := CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log := fromSacct(t, slurmJobs)
	if err := file.Finish(func(w io.Writer) error { return log.Write(w, log.Peak) }); err != nil {
		t.Fatal(err)
	}
	content(t, path)
	trace, got := readAll(t, path)
	job := func(id, submit, limit, run int64, procs, user, group, queue, partition int32) sched.Job {
		return sched.Job{ID: id, Submit: submit, Limit: limit, Run: run, Procs: procs,
			User: user, Group: group, App: -1, Queue: queue, Partition: partition}
	}
	// A job without a limit has the longest run of its queue.
	want := []sched.Job{
		job(1, 0, 3600, 100, 2, 2, 2, 2, 2),
		job(2, 400, 600, 100, 6, 1, 1, 1, 1),
		job(3, 400, 600, 10, 1, 2, 1, 1, 1),
		job(4, 450, 600, 50, 4, 1, 1, 1, 1),
		job(5, 650, 600, 600, 4, 1, 1, 1, 1),
		job(6, 660, 600, 0, 9, -1, -1, -1, -1),
		job(7, 680, 600, 20, 1, 1, 1, 1, 1),
	}
	if diff := cmp.Diff(want, got, asRead); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if trace.Procs() != 9 {
		t.Errorf("%d processors", trace.Procs())
	}
	asked := Requests(trace.Header())(&got[0])
	if want := (workload.Request{User: "user2", Account: "group2", Partition: "gpu", QOS: "high", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 3600}); asked != want {
		t.Errorf("it asked for %+v", asked)
	}
}

// TestSlurmLeavesOut: jobs that have not ended, or make no sense, are counted.
func TestSlurmLeavesOut(t *testing.T) {
	for _, c := range []struct {
		line, why string
	}{
		{"1|a|b|c|d|PENDING|100|100|Unknown|Unknown|10|cpu=1|", "pending"},
		{"1|a|b|c|d|REQUEUE_HOLD|100|100|Unknown|Unknown|10|cpu=1|", "pending"},
		{"1|a|b|c|d|RUNNING|100|100|200|Unknown|10|cpu=1|cpu=1", "running"},
		{"1|a|b|c|d|SUSPENDED|100|100|200|Unknown|10|cpu=1|cpu=1", "running"},
		{"1|a|b|c|d|PUZZLED|100|100|200|300|10|cpu=1|cpu=1", "odd"},
		{"1|a|b|c|d|COMPLETED|100|100|200|300|10|mem=1G|mem=1G", "odd"},
		{"1|a|b|c|d|COMPLETED|100|100|200|150|10|cpu=1|cpu=1", "odd"},
		{"1|a|b|c|d|COMPLETED|100|100|200|Unknown|10|cpu=1|cpu=1", "odd"},
		{"1|a|b|c|d|CANCELLED|Unknown|Unknown|Unknown|300|10|cpu=1|", "odd"},
		{"1|a|b|c|d|COMPLETED|100|100|200|9000000000000|10|cpu=1|cpu=1", "odd"},
		{"1|a|b|c|d|COMPLETED|100|100|200|300|10|cpu=9G|cpu=9G", "odd"},
	} {
		log := fromSacct(t, c.line+"\n")
		got := strings.Repeat("pending", log.Pending) + strings.Repeat("running", log.Running) + strings.Repeat("odd", log.Odd)
		if got != c.why || log.Ran+log.Cancelled+len(log.rows) != 0 {
			t.Errorf("%s: %q, want %q", c.line, got, c.why)
		}
	}
}

// TestPeak: a job that ends frees its processors for a start in the same second.
func TestPeak(t *testing.T) {
	for jobs, want := range map[string]int64{
		"": 0,
		"1|||||COMPLETED|1|1|10|20||cpu=5|cpu=5\n2|||||COMPLETED|1|1|20|30||cpu=6|cpu=6\n": 6,
		"1|||||COMPLETED|1|1|10|20||cpu=5|cpu=5\n2|||||COMPLETED|1|1|19|30||cpu=6|cpu=6\n": 11,
		"1|||||COMPLETED|1|1|10|10||cpu=5|cpu=5\n":                                         5,
		"1|||||CANCELLED|1|1|10|10||cpu=5|\n":                                              0,
	} {
		if got := fromSacct(t, jobs).Peak; got != want {
			t.Errorf("%s: %d, want %d", jobs, got, want)
		}
	}
}

func TestFromSlurmFails(t *testing.T) {
	broken := errors.New("broken")
	var jobs iter.Seq2[sacct.Record, error] = func(yield func(sacct.Record, error) bool) { yield(sacct.Record{}, broken) }
	if log, err := FromSlurm(jobs); log != nil || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", log, err)
	}
}
