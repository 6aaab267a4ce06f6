package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/slurm"
)

func TestMachines(t *testing.T) {
	got := machinesOf([]slurm.Node{
		{Name: "a", CPUs: 4, Partitions: []string{"short", "main"}, Up: true},
		{Name: "b", CPUs: 8, Partitions: []string{"main"}, Up: true},
		{Name: "c", CPUs: 16, Partitions: []string{"main"}, Up: true, Drained: true},
		{Name: "d", CPUs: 32, Partitions: []string{"gpu"}, Up: true},
		{Name: "e", CPUs: 64, Partitions: []string{"big", "short"}},
		{Name: "f", CPUs: 128, Up: true},
	})
	want := machines{"short": {"big", 12}, "main": {"big", 12}, "big": {"big", 12}, "gpu": {"gpu", 32}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(machine{})); diff != "" {
		t.Error(diff)
	}
	for partition, want := range map[string]machine{"main": {"big", 12}, "old,gpu": {"gpu", 32}, "old": {}} {
		if name, procs := got.of()(partition); name != want.name || procs != want.procs {
			t.Errorf("%s is %s with %d processors, want %+v", partition, name, procs, want)
		}
	}
	if machines(nil).of() != nil {
		t.Error("machines are made up of nothing")
	}
}
