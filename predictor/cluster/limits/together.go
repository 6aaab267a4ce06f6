package limits

import (
	"fmt"
	"sort"

	"github.com/varq-project/varq/predictor/workload"
)

// Together returns what n jobs like this one have at the same time, on as few nodes as they can be
// on. n is at least 1.
func (j *Job) Together(n int32) workload.Size {
	if n == 1 {
		return j.Size
	}
	size, pieces := j.Times(n), j.Pieces().Times(n)
	if !pieces.Exclusive {
		size.Nodes = min(size.Nodes, max(j.Nodes, j.fewestNodes(&size, &pieces)))
	}
	return size
}

// MostTogether returns how many jobs like this one can have nodes of its partition, and licences,
// at the same time, n at most.
func (j *Job) MostTogether(n int32) int32 {
	n, _ = j.cluster.licensed(j.Licences, n)
	total := int64(0)
	for _, name := range j.partition.Nodes {
		total += j.cluster.Nodes[name].CPUs
	}
	return int32(sort.Search(int(n), func(i int) bool {
		all := j.Together(int32(i) + 1)
		return int(all.Nodes) > len(j.partition.Nodes) || total > 0 && int64(all.CPUs) > total
	}))
}

// CheckTogether returns the rule by which n jobs like this one cannot run at the same time, or nil.
func (j *Job) CheckTogether(n int32) *Rule {
	most := j.MostTogether(n)
	if most >= n {
		return nil
	}
	tasks := fmt.Sprintf("for %s at the same time, and not for %d", count(int(most), "such task"), n)
	if licensed, name := j.cluster.licensed(j.Licences, n); licensed == most {
		of := j.cluster.Licenses[name]
		return &Rule{"licence " + name, fmt.Sprintf("Slurm has %d of licence %s, %s", max(0, of.Total-of.Kept), name, tasks)}
	}
	return &Rule{"partition " + j.Partition + " size", fmt.Sprintf("%s has room %s", j.cluster.Where(&j.Request), tasks)}
}

// fewestNodes returns on how many of the largest nodes that the job may have there is room for a
// size in pieces, as far as these are known.
func (j *Job) fewestNodes(size *workload.Size, pieces *workload.Pieces) int32 {
	var cpus, gpus, memory int64 // of a node, at most
	for _, name := range j.partition.Nodes {
		n := j.cluster.Nodes[name]
		cpus, gpus, memory = max(cpus, n.CPUs), max(gpus, n.Gres["gpu"]), max(memory, n.Memory)
	}
	fewest, onNode := int64(1), int64(pieces.Count)
	for _, of := range [...]struct{ all, each, most int64 }{
		{int64(size.CPUs), int64(pieces.Each.CPUs), cpus}, {int64(size.GPUs), int64(pieces.Each.GPUs), gpus}, {size.Memory, pieces.Each.Memory, memory},
	} {
		if of.most > 0 {
			fewest = max(fewest, (of.all+of.most-1)/of.most)
		}
		if of.each > 0 {
			onNode = min(onNode, max(1, of.most/of.each))
		}
	}
	if onNode > 0 {
		fewest = max(fewest, (int64(pieces.Count)+onNode-1)/onNode)
	}
	return clamp(fewest)
}
