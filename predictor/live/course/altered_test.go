package course

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// What a plugin of the site changes of a job while it is submitted is told.
func TestAltered(t *testing.T) {
	e := promised(6)
	e.BeginTime, e.TimeLimit, e.Inside = 4000, 600, "course"
	e.Partition, e.Size = "main", workload.Size{Nodes: 1, CPUs: 2, Memory: 200}
	site := &limits.Cluster{Nodes: map[string]limits.Node{"n1": {CPUs: 4}}, Partitions: map[string]limits.Partition{"main": {Name: "main", ConsumableMemory: true}}}
	for want, change := range map[string]func(*slurm.QueueEntry){
		"":           func(*slurm.QueueEntry) {},
		"it is held": func(j *slurm.QueueEntry) { j.Held = true },
		"its time limit is 00:01:00 instead of 00:10:00":       func(j *slurm.QueueEntry) { j.Limit = 60 },
		"it becomes eligible at another time":                  func(j *slurm.QueueEntry) { j.Eligible = 1000 },
		"its reservation is none instead of course":            func(j *slurm.QueueEntry) { j.Shape.Reservation = "" },
		"its licences are matlab:2 instead of none":            func(j *slurm.QueueEntry) { j.Licences = "matlab:2" },
		"its reservation is another instead of course":         func(j *slurm.QueueEntry) { j.Shape.Reservation = "another" },
		"it shares its nodes with no other job":                func(j *slurm.QueueEntry) { j.Exclusive = true },
		"it asks for 3 CPUs instead of 2":                      func(j *slurm.QueueEntry) { j.CPUs = 3 },
		"it asks for 8 CPUs instead of 2":                      func(j *slurm.QueueEntry) { j.Shape.Tasks, j.Shape.CPUsPerTask = 2, 4 },
		"it asks for 4 CPUs instead of 2":                      func(j *slurm.QueueEntry) { j.Shape.CPUsPerNode = 4 },
		"it asks for 3 nodes instead of 1":                     func(j *slurm.QueueEntry) { j.Nodes = 3 },
		"it waits for other jobs: its dependency is singleton": func(j *slurm.QueueEntry) { j.Dependency = "singleton" },
		"Slurm may lower its time limit, to 00:01:00":          func(j *slurm.QueueEntry) { j.Shape.TimeMin = 60 },
		"it takes 300 MiB of memory instead of 200":            func(j *slurm.QueueEntry) { j.Memory = 300 },
	} {
		j := task(100, 0, 6)
		j.Partition, j.Shape.Reservation = "main", "course"
		change(&j)
		if got := Altered(e, &j, site.Takes()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if j.Start = 4100; Altered(e, &j, site.Takes()) != "" {
			t.Errorf("%q of a job that has started", want)
		}
	}
}

// A job whose end is promised may become eligible later than planned, but not sooner, when it is in
// the way of others.
func TestEndEligible(t *testing.T) {
	e := promised(6)
	e.BeginTime, e.TimeLimit, e.FinishBy = 4000, 600, 9000
	for eligible, want := range map[int64]string{0: "", 1000: "it becomes eligible at another time", 4000: "", 6000: ""} {
		j := task(100, 0, 6)
		j.Limit, j.Eligible = 600, eligible
		if got := Kept(e, &j); got != want {
			t.Errorf("at %d: %q", eligible, got)
		}
	}
}
