package sacct

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func read(output string) ([]workload.Job, error) {
	var jobs []workload.Job
	for record, err := range Records("jobs.txt", strings.NewReader(output), time.FixedZone("CET", 3600)) {
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, record.Job)
	}
	return jobs, nil
}

func TestRead(t *testing.T) {
	got, err := read(`JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|Timelimit|ReqTRES|AllocTRES|JobName
1|alice|phys|main|normal|COMPLETED|1795227907|1795227908|1795227909|1795227913|10|00:10:00|billing=2,cpu=2,mem=100M,node=1|billing=2,cpu=4,node=1|x
2|bob|chem|gpu|normal|CANCELLED by 1000|1795227907|Unknown|None|1795227999|UNLIMITED|UNLIMITED|cpu=4,mem=4000M,node=1,gres/gpu=2,billing=4||y
3|bob|chem|main|normal|RUNNING|2026-11-21T02:25:07|2026-11-21T02:25:07|2026-11-21T02:25:08|Unknown|Partition_Limit|Partition_Limit|cpu=1,node=1|cpu=1,node=1|z

4|bob|chem|main|normal|REQUEUED|1795227907|1795227907|1795227908|1795227909|1440|1-00:00:00||cpu=1,node=1|
5|bob|chem|main|normal|CANCELLED|1795227907|1795227907|1795227908|1795227908|1440|1-00:00:00|cpu=1,node=1||
`)
	if err != nil {
		t.Fatal(err)
	}
	job := func(id int64, user, account, partition string) workload.Job {
		return workload.Job{
			ID: id, Submit: 1795227907, Eligible: 1795227907,
			Request: workload.Request{User: user, Account: account, Partition: partition, QOS: "normal"},
		}
	}
	done := job(1, "alice", "phys", "main")
	done.Eligible, done.Start, done.End, done.State = 1795227908, 1795227909, 1795227913, workload.Completed
	done.Size, done.Given, done.Limit = workload.Size{Nodes: 1, CPUs: 2, Memory: 100}, 4, 600
	cancelled := job(2, "bob", "chem", "gpu")
	cancelled.Eligible, cancelled.End, cancelled.State = 0, 1795227999, workload.Cancelled
	cancelled.Size, cancelled.Limit = workload.Size{Nodes: 1, CPUs: 4, GPUs: 2, Memory: 4000}, slurm.UnlimitedTime
	running := job(3, "bob", "chem", "main")
	running.Submit, running.Eligible, running.Start, running.State = 1795224307, 1795224307, 1795224308, workload.Running
	running.Size = workload.Size{Nodes: 1, CPUs: 1}
	requeued := job(4, "bob", "chem", "main")
	requeued.Start, requeued.End, requeued.State, requeued.Limit = 1795227908, 1795227909, workload.Requeued, 86400
	requeued.Size = workload.Size{Nodes: 1, CPUs: 1}
	neverStarted := requeued
	neverStarted.ID, neverStarted.Start, neverStarted.End, neverStarted.State = 5, 0, 1795227908, workload.Cancelled
	running.Given, requeued.Given = 1, 1
	if diff := cmp.Diff([]workload.Job{done, cancelled, running, requeued, neverStarted}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Columns may be in any order, and with -p each line ends with a bar.
func TestColumns(t *testing.T) {
	got, err := read("End|Start|Submit|State|JobID|Timelimit|\n30|20|10|COMPLETED|7|2-03:04:05|\n")
	want := workload.Job{ID: 7, Submit: 10, Start: 20, End: 30, State: workload.Completed, Request: workload.Request{Limit: 183845}}
	if err != nil || len(got) != 1 || !cmp.Equal(got[0], want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	const header = "JobIDRaw|State|Submit|Start|End|Timelimit|TimelimitRaw|ReqTRES\n"
	for _, c := range []struct{ output, want string }{
		{"", "sacct: jobs.txt:1: no header line"},
		{"1|2|3\n", "sacct: jobs.txt:1: no JobIDRaw column: want a header line such as JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES"},
		{"JobIDRaw|State|Submit|Start\n", "sacct: jobs.txt:1: no End column"},
		{header + "1|COMPLETED|1|2|3||1|\n1|COMPLETED|1\n", "sacct: jobs.txt:3: 3 columns, want 8"},
		{header + "1|COMPLETED|1|2|3||1||extra\n", "sacct: jobs.txt:2: 9 columns, want 8"},
		{header + "1.batch|COMPLETED|1|2|3||1|\n", `sacct: jobs.txt:2: JobIDRaw: bad job id "1.batch"`},
		{header + "1|COMPLETED|yesterday|2|3||1|\n", `sacct: jobs.txt:2: Submit: bad time "yesterday"`},
		{header + "1|COMPLETED|1|-2|3||1|\n", `sacct: jobs.txt:2: Start: bad time "-2"`},
		{header + "1|COMPLETED|1|2|3|1:2:3:4|1|\n", `sacct: jobs.txt:2: Timelimit: "1:2:3:4" is not a time limit: it has too many parts (try 90, 1:30:00 or 1-12)`},
		{header + "1|COMPLETED|1|2|3||1.5|\n", `sacct: jobs.txt:2: TimelimitRaw: bad time limit "1.5"`},
		{header + "1|COMPLETED|1|2|3||1|cpu=x\n", `sacct: jobs.txt:2: ReqTRES: TRES "cpu=x": bad count "x"`},
		{header + strings.Repeat("x", maxLine+1), "sacct: jobs.txt:2: bufio.Scanner: token too long"},
	} {
		_, err := read(c.output)
		if err == nil || err.Error() != c.want {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("JobIDRaw|State|Submit|Start|End|Timelimit|TimelimitRaw|ReqTRES\n1|COMPLETED|1|2|3|1-01:00:00|1|cpu=1\n")
	f.Add(strings.Join(Fields, "|") + "\n1|alice|phys|main|normal|CANCELLED by 1|1|1|None|Unknown|UNLIMITED|cpu=1,mem=1G|\n")
	f.Fuzz(func(t *testing.T, output string) {
		jobs, _ := read(output)
		for _, job := range jobs {
			if job.Limit < 0 || job.CPUs < 0 || job.Nodes < 0 || job.Submit < 0 {
				t.Errorf("%+v", job)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var output strings.Builder
	output.WriteString(strings.Join(Fields, "|") + "\n")
	for i := range 10_000 {
		fmt.Fprintf(&output, "%d|user%d|phys|main|normal|COMPLETED|1795227907|1795227907|1795227908|1795227913|%d|billing=2,cpu=2,mem=100M,node=1|billing=2,cpu=2,node=1\n",
			i, i%300, i%1440)
	}
	b.SetBytes(int64(output.Len()))
	for b.Loop() {
		n := 0
		for _, err := range Records("bench", strings.NewReader(output.String()), time.UTC) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// With the columns of Command, records say what set a job's wait apart.
func TestApart(t *testing.T) {
	got, err := read(strings.Join(append(Fields, "Constraints", "Reason"), "|") + `
9|bob|chem|main|normal|NODE_FAIL|100|100|110|130|10|cpu=2,node=1,gres/gpu=1,license/matlab=2|cpu=2,node=1|fast&big|QOSMaxJobsPerUserLimit
10|bob|chem|main|normal|DEADLINE|100|100|None|130|10|cpu=2,node=1|||None
`)
	if err != nil {
		t.Fatal(err)
	}
	want := &workload.Needs{Constraint: "fast&big", Licenses: "matlab:2", Gres: []workload.Gres{{Name: "gpu", Count: 1, Option: "--gres=gpu"}}}
	if diff := cmp.Diff(want, got[0].Needs); diff != "" || !got[0].AtLimit || !got[0].Evicted || got[0].Expired {
		t.Errorf("%+v (-want +got):\n%s", got[0], diff)
	}
	if got[1].AtLimit || got[1].Evicted || !got[1].Expired {
		t.Errorf("%+v", got[1])
	}
}
