package ingest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// sizes is a Model that notes which sizes of the pool of main it is told of.
type sizes struct {
	Model
	noted *[]int32
}

func (s sizes) Resize(p twin.Pools) {
	*s.noted = append(*s.noted, p("main").Size.CPUs)
	s.Model.Resize(p)
}

// The model is told when nodes are drained, and when they come back.
func TestPoolsAreFollowed(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	var noted []int32
	g.Ingest.NewModel = func(p twin.Pools) Model { return sizes{g.NewModel(p), &noted} }
	nodes := func(drained bool) []slurm.Node {
		return []slurm.Node{
			{Name: "a", CPUs: 4, Partitions: []string{"main"}, Up: true},
			{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true, Drained: drained, State: "IDLE"},
		}
	}
	var rules limits.Cluster
	g.ObserveCluster(&rules, nodes(false))
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, drained := range []bool{false, true, true, false} {
		g.ObserveCluster(&rules, nodes(drained))
	}
	if want := []int32{12, 4, 12}; !slices.Equal(noted, want) {
		t.Errorf("the model is told of %v processors, want %v", noted, want)
	}
}

func TestPools(t *testing.T) {
	rules := limits.Cluster{
		Partitions:   map[string]limits.Partition{"gpu": {WholeNodes: true, ConsumableMemory: true}},
		Reservations: []limits.Reservation{{Nodes: []string{"r4"}, Floats: true}},
	}
	got := poolsOf(&rules, []slurm.Node{
		{Name: "a", CPUs: 4, Partitions: []string{"short", "main"}, Up: true},
		{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true},
		{Name: "c", CPUs: 16, Partitions: []string{"main"}, Up: true, Drained: true, State: "IDLE+DRAIN"},
		{Name: "d", CPUs: 32, GPUs: 4, Memory: 2000, Partitions: []string{"gpu"}, Up: true},
		{Name: "r1", CPUs: 1, Partitions: []string{"kept"}, Up: true, State: "IDLE+RESERVED"},
		{Name: "r2", CPUs: 2, Partitions: []string{"kept"}, Up: true, State: "MIXED+RESERVED"},
		{Name: "r3", CPUs: 4, Partitions: []string{"kept"}, Up: true, State: "IDLE+MAINTENANCE", Maintenance: true},
		{Name: "r4", CPUs: 8, Partitions: []string{"kept"}, Up: true, State: "IDLE+MAINTENANCE", Maintenance: true}, // floats
		{Name: "e", CPUs: 64, Partitions: []string{"big", "short"}},
		{Name: "g", CPUs: 256, Partitions: []string{"gpu"}, Up: true, Drained: true, State: "MIXED+DRAIN"},
		{Name: "f", CPUs: 128, Up: true},
	})
	a := twin.Node{Name: "a", Size: workload.Size{Nodes: 1, CPUs: 4}}
	b := twin.Node{Name: "b", Size: workload.Size{Nodes: 1, CPUs: 8}}
	d := twin.Node{Name: "d", Size: workload.Size{Nodes: 1, CPUs: 32, GPUs: 4, Memory: 2000}}
	g := twin.Node{Name: "g", Size: workload.Size{CPUs: 256}}
	all := workload.Size{Nodes: 2, CPUs: 12}
	big, main := twin.Pool{Name: "big", Size: all}, twin.Pool{Name: "big", Size: all, Own: all, Nodes: []twin.Node{a, b}}
	short := twin.Pool{Name: "big", Size: all, Own: workload.Size{Nodes: 1, CPUs: 4}, Nodes: []twin.Node{a}}
	gpus := workload.Size{Nodes: 1, CPUs: 288, GPUs: 4, Memory: 2000}
	gpu := twin.Pool{Name: "gpu", Size: gpus, Own: gpus, Nodes: []twin.Node{d, g}, WholeNodes: true}
	if kept := got["kept"]; kept.Size.CPUs != 15 || kept.Reserved != 5 {
		t.Errorf("%d CPUs, and %d reserved", kept.Size.CPUs, kept.Reserved)
	}
	delete(got, "kept")
	want := pools{"short": short, "main": main, "big": big, "gpu": gpu}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for partition, want := range map[string]twin.Pool{"main": main, "old,gpu": gpu, "old": {}} {
		if diff := cmp.Diff(want, got.lookup()(partition)); diff != "" {
			t.Errorf("%s: %s", partition, diff)
		}
	}
	if pools(nil).lookup() != nil {
		t.Error("pools are made up of nothing")
	}
}
