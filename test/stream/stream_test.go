package stream

import (
	"cmp"
	"context"
	"math"
	"os/exec"
	"slices"
	"testing"
	"time"
)

var config = Config{Seed: 7, Nodes: 32, Until: 200 * 3600}

// The streams keep as much of the cluster busy as they say, and always do so in the same way.
func TestStreams(t *testing.T) {
	for name, c := range map[string]struct {
		jobs func() []Job
		want float64 // of the cluster
	}{
		"others":   {func() []Job { return config.Others(.25) }, .3*1.5 + .7*.1},
		"moldable": {config.Moldable, .25},
		"rigid":    {config.Rigid, .6},
	} {
		jobs := c.jobs()
		if !slices.Equal(jobs, c.jobs()) {
			t.Errorf("%s: other jobs the second time", name)
		}
		work := 0.0
		for i := range jobs {
			j := &jobs[i]
			n := max(1, j.Nodes)
			work += float64(n) * j.On(n)
			if limit := j.LimitOn(n); float64(limit) < j.On(n) || limit%60 != 0 || j.At >= config.Until || i > 0 && j.At < jobs[i-1].At {
				t.Errorf("%s: %+v", name, j)
			}
		}
		if got := work / config.Until / float64(config.Nodes); math.Abs(got-c.want) > .03 {
			t.Errorf("%s: %.3f of the cluster is busy, wanted %.3f", name, got, c.want)
		}
	}
}

func TestMoldable(t *testing.T) {
	j := Job{Run: 600}
	if got, want := j.On(8), 600*(.05+.95/8); math.Abs(got-want) > 1e-9 || j.LimitOn(8) != 120 || j.LimitOn(1) != 660 {
		t.Errorf("%g s on 8 nodes, wanted %g, limits %d and %d s", got, want, j.LimitOn(8), j.LimitOn(1))
	}
}

// The past has no more jobs at once than there are nodes.
func TestPast(t *testing.T) {
	const end = 1_700_000_000
	type change struct {
		at    int64
		nodes int32
	}
	var changes []change
	sizes := map[int32]bool{}
	for j, err := range config.Past(end, func(c Config) []Job { return Together(c.Others(0), c.Moldable()) }, []int32{3, 5}) {
		if err != nil || j.Start < j.Submit || j.End <= j.Start || j.End > end || j.End > j.Start+j.Limit {
			t.Fatalf("%+v, %v", j, err)
		}
		changes = append(changes, change{j.Start, j.Nodes}, change{j.End, -j.Nodes})
		if j.User == "alice" {
			sizes[j.Nodes] = true
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nodes, b.nodes)) })
	busy := int32(0)
	for _, c := range changes {
		if busy += c.nodes; busy > config.Nodes {
			t.Fatalf("%d nodes are busy at %d", busy, c.at)
		}
	}
	if len(changes) < 2000 || len(sizes) != 2 {
		t.Errorf("%d jobs, of sizes %v", len(changes)/2, sizes)
	}
}

// Without Slurm, what a job writes is read.
func TestRun(t *testing.T) {
	jobs := []Job{{Name: "a", User: "alice", Nodes: 2, Run: 0}, {Name: "b", User: "alice", At: .2, Run: .5}, {Name: "c", User: "bob", At: .3, Nodes: 1, Run: 0}}
	r := Runner{Dir: t.TempDir(), Name: "x", Most: 2, Quicker: 2, Submit: func(ctx context.Context, j *Job, script []string) *exec.Cmd {
		if j.Name == "c" {
			return exec.CommandContext(ctx, "false")
		}
		cmd := exec.CommandContext(ctx, script[0], script[1:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=2", "SLURM_CLUSTER_NAME=lab"}
		return cmd
	}}
	began := time.Now()
	all, err := r.Run(t.Context(), began, jobs, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := &all[0], &all[1], &all[2]; !a.Done() || !b.Done() || c.Done() || c.Err == nil || b.Submitted != .1 || b.Wait() < 0 || b.Turnaround() < b.On(2)/2 ||
		b.Starts[0].Nodes != 2 || b.Starts[0].Cluster != "lab" || b.Starts[0].ID != 7 {
		t.Errorf("%+v", all)
	}
	if Used(all, "alice") < 2*jobs[1].On(2)/2 || Used(all, "bob") != 0 {
		t.Errorf("alice has used %g node-seconds", Used(all, "alice"))
	}
}

func TestMeanOf(t *testing.T) {
	if got := MeanOf([]float64{1, 2, 3, 4, 5, 6}); got.Mean != 3.5 || got.Low >= 3.5 || got.High <= 3.5 || got != MeanOf([]float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%+v", got)
	}
	if got := MeanOf([]float64{1, 2}).String(); got != "2" {
		t.Errorf("%s", got)
	}
}
