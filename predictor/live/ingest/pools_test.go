package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm"
)

func TestPools(t *testing.T) {
	got := poolsOf([]slurm.Node{
		{Name: "a", CPUs: 4, Partitions: []string{"short", "main"}, Up: true},
		{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true},
		{Name: "c", CPUs: 16, Partitions: []string{"main"}, Up: true, Drained: true},
		{Name: "d", CPUs: 32, Partitions: []string{"gpu"}, Up: true},
		{Name: "e", CPUs: 64, Partitions: []string{"big", "short"}},
		{Name: "f", CPUs: 128, Up: true},
	})
	want := pools{"short": {"big", 12}, "main": {"big", 12}, "big": {"big", 12}, "gpu": {"gpu", 32}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pool{})); diff != "" {
		t.Error(diff)
	}
	for partition, want := range map[string]pool{"main": {"big", 12}, "old,gpu": {"gpu", 32}, "old": {}} {
		if name, procs := got.lookup()(partition); name != want.name || procs != want.procs {
			t.Errorf("%s is %s with %d processors, want %+v", partition, name, procs, want)
		}
	}
	if pools(nil).lookup() != nil {
		t.Error("pools are made up of nothing")
	}
}
