package slurmrestd

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// needs returns what a job of slurmctld needs of its nodes, given the resources that it asks for in
// all.
func (j *queueJob) needs(requested limits.TRES) *workload.Needs {
	cpus := max(1, j.CPUsPerNode.or(1), j.CPUsPerTask.or(1))
	n := &workload.Needs{
		Constraint: j.Features,
		NodeList:   named("--nodelist", j.NodeList),
		Exclude:    named("--exclude", j.Excluded),
		NodeCPUs:   need(cpus, "--cpus-per-task"),
		NodeMemory: nodeMemory(j.MemoryPerNode, j.MemoryPerCPU, cpus),
		NodeTmp:    need(j.DiskPerNode.or(0), "--tmp"),
		Gres:       slurm.AskedGres(j.TRESPerNode, true),
		Licenses:   j.Licenses,
	}
	if len(n.Gres) == 0 {
		n.Gres = slurm.AskedGres(j.TRESPerJob, false)
	}
	if len(n.Gres) == 0 {
		n.Gres = slurm.AskedGres(j.TRESPerTask, false)
		for i := range n.Gres {
			n.Gres[i].Count *= max(1, j.Tasks.or(1))
		}
	}
	if len(n.Gres) == 0 {
		n.Gres = slurm.GresOf(requested)
	}
	return n
}

// needs returns what a job of slurmdbd needed of its nodes, as far as slurmdbd tells.
func (j *pastJob) needs(requested limits.TRES) *workload.Needs {
	return &workload.Needs{
		Constraint: j.Constraints,
		NodeMemory: nodeMemory(j.Required.MemoryPerNode, j.Required.MemoryPerCPU, 1),
		Gres:       slurm.GresOf(requested),
		Licenses:   slurm.LicensesOf(requested),
	}
}

// gpus returns how many GPUs a job of so many nodes asks for.
func gpus(n *workload.Needs, nodes int32) int32 {
	all := int64(0)
	for _, g := range n.Gres {
		if g.Name != "gpu" {
			continue
		}
		if g.PerNode {
			g.Count *= int64(max(1, nodes))
		}
		all += g.Count
	}
	return int32(min(all, math.MaxInt32))
}

// nodeMemory returns the memory that each node must have for so many CPUs.
func nodeMemory(perNode, perCPU number, cpus int64) workload.NodeNeed {
	if perNode.or(0) > 0 {
		return need(perNode.or(0), "--mem")
	}
	return need(cpus*perCPU.or(0), "--mem-per-cpu")
}

// need returns the need of an amount that each node must have. An amount of 0 is none: Slurm tells
// it also where nothing was asked for.
func need(amount int64, option string) workload.NodeNeed {
	if amount <= 0 {
		return workload.NodeNeed{}
	}
	return workload.NodeNeed{Amount: amount, Option: option}
}

// named returns the nodes of an option. An unreadable list has none, so that one job does not hide
// the others.
func named(option, list string) workload.NamedNodes {
	names, err := hostlist.Expand(list)
	if err != nil || len(names) == 0 {
		return workload.NamedNodes{}
	}
	return workload.NamedNodes{Names: names, Option: option + "=" + list}
}
