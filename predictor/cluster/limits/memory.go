package limits

import (
	"cmp"
	"fmt"
)

// byDefault returns the memory, in MiB, of a job that does not say how much it needs, on so many
// nodes and CPUs; 0 if there is no default.
func (m *Memory) byDefault(nodes, cpus int64) int64 {
	return max(m.DefMemPerNode*nodes, m.DefMemPerCPU*cpus)
}

// asksAllMemory reports whether the job asks for all the memory of its nodes, and returns how much
// that is at least.
func (j *Job) asksAllMemory() (mib int64, ok bool) {
	if !j.needs.AllMemory() {
		return 0, false
	}
	return j.cluster.Takes().allMemory(&j.Request), true
}

// checkMaxMemory returns the rule by which Slurm never starts a job that asks for so much memory of
// a node, or nil.
func (j *Job) checkMaxMemory() *Rule {
	p, n := &j.partition, j.needs
	most := p.MaxMemPerNode
	if most == 0 {
		return nil
	}
	forbids := func(format string, args ...any) *Rule {
		return &Rule{
			Name: "partition " + p.Name + " MaxMemPerNode",
			Says: fmt.Sprintf("partition %s allows %d MiB of memory a node (MaxMemPerNode), and ", p.Name, most) + fmt.Sprintf(format, args...),
		}
	}
	each := n.NodeMemory.Amount
	switch option := n.NodeMemory.Option; {
	case n.AllMemory():
		return forbids("%s=0 asks for all of a node's: say --mem=%d or less", option, most)
	case option == "--mem-per-gpu" || option == "" && j.Memory > 0:
		// how much that is of a node, is not known
		return nil
	case option == "--mem-per-cpu" && n.MostNodes == j.Nodes:
		each = max(each, (j.Memory+int64(j.Nodes)-1)/int64(j.Nodes))
	case option == "":
		each = p.byDefault(1, max(1, n.NodeCPUs.Amount))
		if each == 0 {
			return forbids("a job that does not say its memory asks for all of a node's: say --mem=%d or less", most)
		}
	}
	if each > most {
		return forbids("the job asks for %d (%s)", each, cmp.Or(n.NodeMemory.Option, "by default"))
	}
	return nil
}

// checkMemoryCPUs checks the CPUs that Slurm gives to a job for the memory that it asks for of a
// node.
func (s *selection) checkMemoryCPUs() *Rule {
	most, each := s.partition.MaxMemPerCPU, &s.needs.NodeMemory
	if most == 0 || each.Option == "--mem-per-gpu" {
		return nil
	}
	if s.needs.AllMemory() {
		return s.keep(each.Option+"=0", fmt.Sprintf("have a CPU for each %d MiB of their memory (MaxMemPerCPU)", most),
			func(n *Node) bool { return n.CPUs*most >= n.Memory })
	}
	cpus := (each.Amount + most - 1) / most
	return s.keep(each.Option, fmt.Sprintf("have %d CPUs, which Slurm gives to a job with %d MiB of memory a node (MaxMemPerCPU=%d)", cpus, each.Amount, most),
		func(n *Node) bool { return n.CPUs >= cpus })
}
