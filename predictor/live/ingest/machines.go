package ingest

import (
	"strings"

	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
)

// machine is the nodes of partitions that share any.
type machine struct {
	name  string // the first of the partitions, by name
	procs int32  // of the nodes that can run jobs
}

// machines are the machines by partition; nil is unknown.
type machines map[string]machine

// of returns the machines as forecasters ask for them, or nil if none is known. Of
// several partitions in which a job may run, the first that is known counts.
func (m machines) of() twin.Machines {
	if len(m) == 0 {
		return nil
	}
	return func(partition string) (string, int32) {
		for name := range strings.SplitSeq(partition, ",") {
			if m, ok := m[name]; ok {
				return m.name, m.procs
			}
		}
		return "", 0
	}
}

// machinesOf returns the machine of each partition.
func machinesOf(nodes []slurm.Node) machines {
	with := map[string]string{} // a partition of the same machine with a name no later
	first := func(name string) string {
		for with[name] != name {
			name = with[name]
		}
		return name
	}
	for i := range nodes {
		for _, name := range nodes[i].Partitions {
			if with[name] == "" {
				with[name] = name
			}
			a, b := first(nodes[i].Partitions[0]), first(name)
			with[max(a, b)] = min(a, b)
		}
	}
	procs := map[string]int32{}
	for i := range nodes {
		if n := &nodes[i]; n.Up && !n.Drained && len(n.Partitions) > 0 {
			procs[first(n.Partitions[0])] += n.CPUs
		}
	}
	list := machines{}
	for name := range with {
		list[name] = machine{first(name), procs[first(name)]}
	}
	return list
}
