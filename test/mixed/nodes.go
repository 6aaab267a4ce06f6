package mixed

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/test/cluster"
)

// room is a number of nodes that are alike.
type room struct {
	nodes    int
	features string
	gpus     string // the type of the two GPUs of each node, or ""
	memory   int    // MiB, the cluster's usual if 0
}

// rooms are the nodes of the cluster, of four CPUs each.
var rooms = []room{
	{nodes: 12, features: "avx2,ib"},
	{nodes: 10, features: "avx2,avx512,ib"},
	{nodes: 8, features: "avx2", gpus: "a100"},
	{nodes: 6, features: "avx2,avx512", gpus: "h100"},
	{nodes: 4, features: "avx2", memory: 16000},
}

func nodes() (n int) {
	for _, r := range rooms {
		n += r.nodes
	}
	return n
}

func kindsOfNodes() (kinds []cluster.Kind) {
	for _, r := range rooms {
		conf := "Features=" + r.features
		if r.gpus != "" {
			conf += " Gres=gpu:" + r.gpus + ":2"
		}
		if r.memory != 0 {
			conf += fmt.Sprint(" RealMemory=", r.memory)
		}
		kinds = append(kinds, cluster.Kind{Nodes: r.nodes, Conf: conf})
	}
	return kinds
}

func gresConf() string {
	var b strings.Builder
	first := 1
	for _, r := range rooms {
		if r.gpus != "" {
			fmt.Fprintf(&b, "NodeName=node[%d-%d] Name=gpu Type=%s File=/dev/null,/dev/zero\n", first, first+r.nodes-1, r.gpus)
		}
		first += r.nodes
	}
	return b.String()
}

// slurmConf: licences can run out. GPUs are not counted in accounting, as is Slurm's default. The
// partition brief has all nodes, and no default time; quick has those with InfiniBand.
func slurmConf() string {
	return `SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
GresTypes=gpu
Licenses=solver:3
PriorityWeightAge=1000
PriorityMaxAge=1:00:00
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0 DefaultTime=5 State=UP
PartitionName=brief Nodes=ALL MaxTime=3 State=UP
PartitionName=quick Nodes=node[1-22] MaxTime=10 State=UP
`
}
