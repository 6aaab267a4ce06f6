package slurm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm names who has cancelled a job. Of one that it cancels by itself 22.05 keeps the reason.
func TestUnfulfilled(t *testing.T) {
	for _, c := range []struct {
		reason, by string
		state      workload.State
		want       bool
	}{
		{"Dependency", "", workload.Cancelled, true}, {"None", "", workload.Cancelled, true}, {NeverSatisfied, "", workload.Cancelled, true},
		{"Dependency", "alice", workload.Cancelled, false}, {"None", "root", workload.Cancelled, false},
		{"Priority", "", workload.Cancelled, false}, {"Dependency", "", workload.Completed, false},
	} {
		if got := Unfulfilled(c.reason, c.by, c.state); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestParseState(t *testing.T) {
	for words, want := range map[string]workload.State{
		"":                            workload.Unknown,
		"NONSENSE":                    workload.Unknown,
		"PENDING":                     workload.Pending,
		"CONFIGURING":                 workload.Running,
		"SUSPENDED":                   workload.Running,
		"RUNNING,COMPLETING":          workload.Running,
		"COMPLETED,COMPLETING":        workload.Running, // its nodes are not free yet
		"COMPLETED":                   workload.Completed,
		"CANCELLED by 1000":           workload.Cancelled,
		"CANCELLED+":                  workload.Cancelled,
		"cancelled":                   workload.Cancelled,
		"TIMEOUT":                     workload.TimedOut,
		"DEADLINE":                    workload.Cancelled,
		"NODE_FAIL":                   workload.Failed,
		"PREEMPTED":                   workload.Failed,
		"OUT_OF_MEMORY":               workload.Failed,
		"FAILED,LAUNCH_FAILED":        workload.Failed,
		"PENDING,REQUEUED":            workload.Requeued, // accounting of 24.11
		"REQUEUED":                    workload.Requeued, // of 22.05
		"PENDING,REQUEUED,COMPLETING": workload.Requeued,
		"PENDING,REQUEUE_HOLD":        workload.Pending,
		"PENDING,POWER_UP_NODE":       workload.Pending,
		"SPECIAL_EXIT":                workload.Pending,
		"REVOKED":                     workload.Cancelled,
	} {
		if got := ParseState(strings.Split(words, ",")...); got != want {
			t.Errorf("ParseState(%s) = %v, want %v", words, got, want)
		}
	}
}

func TestParseTRES(t *testing.T) {
	for list, want := range map[string]limits.TRES{
		"": nil,
		"cpu=4,mem=4000M,node=1,gres/gpu=2,billing=4": {"cpu": 4, "mem": 4000, "node": 1, "gres/gpu": 2, "billing": 4},
		"mem=4G":                   {"mem": 4096},
		"mem=0.5T,cpu=2K":          {"mem": 512 * 1024, "cpu": 2048},
		"mem=1K":                   {"mem": 1},
		"mem=300":                  {"mem": 300},
		"cpu=N,mem=-1,energy=-2":   {},
		"gres/gpu:a100=1,energy=0": {"gres/gpu:a100": 1, "energy": 0},
	} {
		got, err := ParseTRES(list)
		if err != nil {
			t.Errorf("%s: %v", list, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", list, diff)
		}
	}
	for list, want := range map[string]string{
		"cpu":        `TRES "cpu": want NAME=COUNT`,
		"cpu=1,":     `TRES "": want NAME=COUNT`,
		"=1":         `TRES "=1": want NAME=COUNT`,
		"cpu=x":      `TRES "cpu=x": bad count "x"`,
		"mem=-5M":    `TRES "mem=-5M": bad count "-5M"`,
		"mem=1e300E": `TRES "mem=1e300E": count "1e300E" is too large`,
	} {
		if _, err := ParseTRES(list); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", list, err, want)
		}
	}
}

func TestParseWeights(t *testing.T) {
	got, err := ParseWeights("CPU=1.0,Mem=0.25G,GRES/gpu=2.0,node=0")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{"cpu": 1, "mem": 0.25 / 1024, "gres/gpu": 2, "node": 0}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, none := range []string{"", "(null)"} {
		if got, err := ParseWeights(none); got != nil || err != nil {
			t.Errorf("%q: %v, %v", none, got, err)
		}
	}
	for _, bad := range []string{"cpu", "cpu=", "cpu=x", "cpu=NaN", "=1"} {
		if _, err := ParseWeights(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestRequestedSize(t *testing.T) {
	tres := func(s string) limits.TRES {
		t.Helper()
		tres, err := ParseTRES(s)
		if err != nil {
			t.Fatal(err)
		}
		return tres
	}
	for _, c := range []struct {
		requested, allocated string
		want                 workload.Size
	}{
		{"cpu=2,mem=100M,node=1", "cpu=4,node=2", workload.Size{Nodes: 2, CPUs: 2, Memory: 100}},
		{"cpu=2,mem=100M,node=1", "", workload.Size{Nodes: 1, CPUs: 2, Memory: 100}},
		{"", "cpu=4,node=2,mem=5G,gres/gpu=4", workload.Size{Nodes: 2, CPUs: 4, GPUs: 4, Memory: 5120}},
		{"cpu=1,gres/gpu:a100=2,gres/gpu:v100=1", "node=1", workload.Size{Nodes: 1, CPUs: 1, GPUs: 3}},
		{"cpu=1,gres/gpu=3,gres/gpu:a100=2", "node=1", workload.Size{Nodes: 1, CPUs: 1, GPUs: 3}},
	} {
		if got := RequestedSize(tres(c.requested), tres(c.allocated)); got != c.want {
			t.Errorf("%s / %s: got %+v, want %+v", c.requested, c.allocated, got, c.want)
		}
	}
}

// database is a made-up accounting. Like slurmdbd, it returns every job that overlaps the
// interval, including running jobs.
type database struct {
	jobs    []workload.Job
	most    int // an answer with more rows fails
	queries int
}

func (d *database) read(_ context.Context, from, to int64) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		d.queries++
		rows := 0
		for _, job := range d.jobs {
			if job.Eligible >= to || job.End != 0 && job.End < from {
				continue
			}
			if rows++; d.most > 0 && rows > d.most {
				yield(workload.Job{}, fmt.Errorf("answer: %w", ErrTooMuch))
				return
			}
			if !yield(job, nil) {
				return
			}
		}
	}
}

func randomJobs(n int, span int64) []workload.Job {
	rnd := rand.New(rand.NewPCG(3, 4))
	jobs := make([]workload.Job, n)
	for i := range jobs {
		submit := 1_000_000 + rnd.Int64N(span)
		job := workload.Job{ID: int64(1 + rnd.IntN(n/2)), Submit: submit, Eligible: submit, State: workload.Pending}
		switch rnd.IntN(10) {
		case 0: // pending
		case 1:
			job.Start, job.State = submit+rnd.Int64N(1000), workload.Running
		case 2:
			job.End, job.State = submit+rnd.Int64N(1000), workload.Cancelled
		default:
			job.Start = submit + rnd.Int64N(1000)
			job.End, job.State = job.Start+rnd.Int64N(20_000), workload.Completed
		}
		jobs[i] = job
	}
	return jobs
}

// TestWindows: whatever the windows are, every job that started or ended is read once.
func TestWindows(t *testing.T) {
	const span = 100_000
	jobs := randomJobs(1000, span)
	want := make(map[[2]int64]bool)
	for _, job := range jobs {
		if job.State != workload.Pending {
			want[[2]int64{job.ID, job.Submit}] = true
		}
	}
	for _, test := range []struct {
		windows Windows
		most    int
	}{
		{Windows{First: 3600, Min: 60, Max: 86400, Target: 100}, 0},
		{Windows{First: 10, Min: 10, Max: 1000, Target: 1_000_000}, 0},
		{Windows{First: 10_000_000, Min: 1, Max: 10_000_000, Target: 1000}, 700},
	} {
		d := database{jobs: jobs, most: test.most}
		got := make(map[[2]int64]bool)
		complete := int64(1_000_000)
		progress := func(p Progress) {
			if p.Complete <= complete || p.Jobs != len(got) {
				t.Errorf("progress %+v after %d, with %d jobs", p, complete, len(got))
			}
			complete = p.Complete
		}
		for job, err := range test.windows.History(t.Context(), 1_000_000, 1_000_000+2*span, progress, d.read) {
			if err != nil {
				t.Fatal(err)
			}
			key := [2]int64{job.ID, job.Submit}
			if got[key] {
				t.Fatalf("%+v comes twice", job)
			}
			got[key] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.windows, diff)
		}
		if complete != 1_000_000+2*span {
			t.Errorf("complete to %d", complete)
		}
	}
}

func TestWindowsAdapt(t *testing.T) {
	w := Windows{First: 3600, Min: 60, Max: 86400, Target: 1000}
	for _, c := range []struct {
		length int64
		rows   int
		want   int64
	}{
		{3600, 1000, 3600}, {3600, 500, 7200}, {3600, 0, 14400}, {3600, 1_000_000, 900}, {80_000, 10, 86400}, {100, 5000, 60},
	} {
		if got := w.next(c.length, c.rows); got != c.want {
			t.Errorf("after %d s with %d rows: %d, want %d", c.length, c.rows, got, c.want)
		}
	}
}

func TestWindowsStop(t *testing.T) {
	d := database{jobs: randomJobs(100, 1000)}
	w := Windows{First: 100, Min: 1, Max: 100, Target: 10}
	for range w.History(t.Context(), 1_000_000, 2_000_000, nil, d.read) {
		break
	}
	if d.queries > 2 {
		t.Errorf("%d queries for one job", d.queries)
	}

	broken := errors.New("broken")
	var got []error
	for _, err := range w.History(t.Context(), 0, 1000, nil, func(context.Context, int64, int64) iter.Seq2[workload.Job, error] {
		return func(yield func(workload.Job, error) bool) { yield(workload.Job{}, broken) }
	}) {
		got = append(got, err)
	}
	if !slices.Equal(got, []error{broken}) {
		t.Errorf("got %v", got)
	}

	// A window that cannot be made smaller fails.
	d = database{jobs: randomJobs(100, 1), most: 5}
	got = nil
	for _, err := range w.History(t.Context(), 1_000_000, 1_000_100, nil, d.read) {
		if err != nil {
			got = append(got, err)
		}
	}
	if len(got) != 1 || !errors.Is(got[0], ErrTooMuch) {
		t.Errorf("got %v", got)
	}
}

func FuzzParseTRES(f *testing.F) {
	for _, s := range []string{"", "cpu=4,mem=4000M,node=1,gres/gpu=2,billing=4", "mem=0.5T", "cpu=N"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if tres, err := ParseTRES(list); err == nil {
			for name, count := range tres {
				if count < 0 {
					t.Errorf("%s=%d", name, count)
				}
			}
			RequestedSize(tres, nil)
		}
		_, _ = ParseWeights(list)
	})
}

// TestInventedTimes: only a job that has started has a start, and only one that has ended an end.
func TestInventedTimes(t *testing.T) {
	allocated := limits.TRES{"cpu": 1}
	for _, c := range []struct {
		state      workload.State
		allocated  limits.TRES
		start, end int64
	}{
		{workload.Pending, nil, 0, 0},
		{workload.Running, allocated, 1, 0},
		{workload.Running, nil, 1, 0},
		{workload.Completed, allocated, 1, 2},
		{workload.Cancelled, nil, 0, 2},
	} {
		j := workload.Job{State: c.state, Start: 1, End: 2}
		if DropInventedTimes(&j, c.allocated); j.Start != c.start || j.End != c.end {
			t.Errorf("%+v: start %d, end %d", c, j.Start, j.End)
		}
	}
}
