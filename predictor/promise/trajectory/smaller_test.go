package trajectory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/workload"
)

// TestSmallerOptions: a smaller job is offered by all the options that make it so. With them the
// user asks for no more than was offered.
func TestSmallerOptions(t *testing.T) {
	c := site(nil)
	c.QOS = map[string]limits.QOS{"lean": {Name: "lean", JobLimits: limits.JobLimits{MaxTRES: limits.TRES{"cpu": 8}}}}
	p := &Planner{Forecaster: curve{mean: 1, sample: 1000}, Cluster: c}
	for _, v := range []struct {
		asked jobsize.Options
		want  string
	}{
		{jobsize.Options{Nodes: "4", NTasks: 16}, "--nodes=2 --ntasks=8"},
		{jobsize.Options{Nodes: "4", NTasks: 16, CPUsPerTask: 2}, "--nodes=1 --ntasks=4"},
		{jobsize.Options{Nodes: "4", NTasksPerNode: 4, Mem: "100"}, "--nodes=2"},
		{jobsize.Options{NTasks: 16, NTasksPerNode: 4}, "--ntasks=8"},
		{jobsize.Options{NTasks: 16, CPUsPerTask: 2, MemPerCPU: "10"}, "--ntasks=4"},
		{jobsize.Options{NTasks: 16, CPUsPerTask: 3, Mem: "1000"}, "--ntasks=2"},
		{jobsize.Options{CPUsPerTask: 16}, "--cpus-per-task=8"},
		{jobsize.Options{NTasksPerNode: 16}, "--ntasks-per-node=8"},
		{jobsize.Options{Nodes: "1", NTasks: 16, NTasksPerNode: 16}, "--ntasks=8 --ntasks-per-node=8"},
		{jobsize.Options{Nodes: "4", NTasks: 16, GPUs: "a100:8"}, "--nodes=2 --ntasks=8 --gpus=a100:4"},
		{jobsize.Options{Nodes: "4", NTasks: 16, GPUsPerNode: "2"}, "--nodes=2 --ntasks=8"},
		// it has no equal parts
		{jobsize.Options{Nodes: "3", NTasks: 16}, ""},
		{jobsize.Options{Nodes: "4", NTasks: 16, GPUs: "a100:4,h100:4"}, ""}, // of several types
		{jobsize.Options{Nodes: "1", CPUsPerTask: 16, Exclusive: true}, ""},
	} {
		size, err := v.asked.Size()
		if err != nil {
			t.Fatal(err)
		}
		needs, err := v.asked.Needs()
		if err != nil {
			t.Fatal(err)
		}
		a := p.Plan(Request{
			Job: workload.Request{Partition: "main", QOS: "lean", Limit: hour, Size: size}, Needs: &needs,
			Now: noon, Deadline: noon + 8*hour, HoldUntil: noon + 8*hour, Prob: .8,
		})
		o := offerOf(t, a, OfferNodes)
		if o == nil {
			if v.want != "" {
				t.Errorf("%+v: nothing offered", v.asked)
			}
			continue
		}
		var options []string
		changed := v.asked
		for _, s := range o.Request.Needs.Scale {
			options = append(options, fmt.Sprintf("%s%d", s.Option, s.Count))
			switch s.Option {
			case "--nodes=":
				changed.Nodes = fmt.Sprint(s.Count)
			case "--ntasks=":
				changed.NTasks = int32(s.Count)
			case "--ntasks-per-node=":
				changed.NTasksPerNode = int32(s.Count)
			case "--cpus-per-task=":
				changed.CPUsPerTask = int32(s.Count)
			default:
				changed.GPUs = fmt.Sprintf("%s%d", strings.TrimPrefix(s.Option, "--gpus="), s.Count)
			}
		}
		if got := strings.Join(options, " "); got != v.want {
			t.Errorf("%+v: %s is offered, want %s", v.asked, got, v.want)
		}
		now, err := changed.Size()
		if most := o.Request.Job.Size; err != nil || now.Nodes > most.Nodes || now.CPUs != most.CPUs || now.GPUs > most.GPUs || now.Memory > most.Memory {
			t.Errorf("%+v asks for %+v, and %+v is offered: %v", changed, now, most, err)
		}
	}
}
