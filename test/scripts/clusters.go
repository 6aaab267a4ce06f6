package scripts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
)

// user is the one who submits all scripts.
const user = "alice"

// Kinds are the kinds of clusters.
//
//   - alike: each partition has one kind of node, a core is a CPU, and there is a default time.
//   - mixed: all partitions have the same nodes: some with GPUs of three types, others without,
//     half of each with the features that are named; there is no default time.
//   - centre: a core has two threads; users have several accounts, QOS and partitions, and need one
//     of each.
var Kinds = []string{"alike", "mixed", "centre"}

// Cluster returns the cluster of a kind for the options of a script.
func Cluster(kind string, options map[string]string) *limits.Cluster {
	b := builder{cluster: &limits.Cluster{
		Name: cmp.Or(options["clusters"], "here"), Partitions: map[string]limits.Partition{},
		QOS: map[string]limits.QOS{"normal": {Name: "normal"}}, Nodes: map[string]limits.Node{}, Licenses: map[string]limits.License{},
	}, options: options}
	b.access()
	switch kind {
	case "alike":
		for _, name := range b.partitions() {
			p := b.partition(name, 3600)
			b.add(&p, b.node(1, b.types()...), true)
			b.cluster.Partitions[name] = p
		}
	case "mixed":
		p := b.partition("", limits.None)
		types := append(b.types(), "t4", "mi250", "l40")[:max(3, len(b.types()))]
		for i, features := range [][]string{b.features(), nil} {
			kinds := []limits.Node{b.node(1)}
			for _, of := range types {
				kinds = append(kinds, b.node(1, of))
			}
			fits := 0
			if b.asksGPUs() {
				fits = 1
			}
			for k, n := range kinds {
				n.Features = features
				b.add(&p, n, i == 0 && k == fits)
			}
		}
		for _, name := range b.partitions() {
			p.Name = name
			b.cluster.Partitions[name] = p
		}
	case "centre":
		b.cluster.QOSEnforced, b.cluster.AssociationsEnforced = true, true
		for _, name := range append(b.partitions(), "cpu", "gpu") {
			p := b.partition(name, 3600)
			b.add(&p, b.node(2, b.types()...), true)
			b.cluster.Partitions[name] = p
		}
	}
	b.name()
	return b.cluster
}

// builder builds a cluster with what a script names.
type builder struct {
	cluster *limits.Cluster
	options map[string]string
}

// access adds the accounts, QOS, licences and Slurm's own reservations that are named.
func (b *builder) access() {
	accounts := append(split(b.options["account"]), "other")
	qos := append(split(b.options["qos"]), "normal")
	for _, name := range qos {
		b.cluster.QOS[name] = limits.QOS{Name: name}
	}
	for i, account := range accounts {
		b.cluster.Associations = append(b.cluster.Associations,
			limits.Association{Account: account, Parent: "root"},
			limits.Association{Account: account, User: user, Default: i == 0, QOS: qos})
	}
	for _, one := range split(b.options["licenses"]) {
		name, _, _ := strings.Cut(one, ":")
		b.cluster.Licenses[name] = limits.License{Total: 10}
	}
}

// name gives the nodes that are named to a reservation of Slurm's, if there is one.
func (b *builder) name() {
	for _, name := range split(b.options["reservation"]) {
		nodes := b.cluster.Partitions[b.partitions()[0]].Nodes
		b.cluster.Reservations = append(b.cluster.Reservations, limits.Reservation{Name: name, End: 1 << 40, Nodes: nodes[:b.nodes()], Users: []string{user}})
	}
}

func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// partitions returns the names of the partitions, of which the first is the default.
func (b *builder) partitions() []string {
	return append(split(b.options["partition"]), "main")[:max(1, len(split(b.options["partition"])))]
}

func (b *builder) partition(name string, defaultTime int64) limits.Partition {
	return limits.Partition{
		Name: name, Up: true, Default: len(b.cluster.Partitions) == 0, MaxTime: 30 * 24 * 3600, DefaultTime: defaultTime,
		MaxNodes: limits.None, ConsumableMemory: true,
	}
}

// fewest is how many nodes of a kind a cluster has at least.
const fewest = 32

// nodes returns how many nodes the script asks for at most.
func (b *builder) nodes() int {
	text := b.options["nodes"]
	n, _ := strconv.Atoi(text[strings.LastIndex(text, "-")+1:])
	return max(1, n)
}

// add adds nodes of a kind to a partition: four times as many as the script asks for, but fewest at
// least, and those that the script names if it may run on nodes of that kind.
func (b *builder) add(p *limits.Partition, kind limits.Node, fits bool) {
	var names []string
	if fits {
		for _, option := range []string{"nodelist", "exclude"} {
			named, _ := hostlist.Expand(b.options[option])
			names = append(names, slices.DeleteFunc(named, func(name string) bool { _, has := b.cluster.Nodes[name]; return has })...)
		}
	}
	for range max(fewest, 4*b.nodes()) {
		names = append(names, fmt.Sprintf("node%d", len(b.cluster.Nodes)+len(names)+1))
	}
	for _, name := range names {
		kind.Name = name
		b.cluster.Nodes[name] = kind
		p.Nodes, p.TotalCPUs = append(p.Nodes, name), p.TotalCPUs+kind.CPUs
	}
}

// node returns a node whose cores have so many threads, with all features that are named, and with
// 8 GPUs of each type.
func (b *builder) node(threads int64, types ...string) limits.Node {
	n := limits.Node{CPUs: 128, Threads: threads, Memory: 2 << 20, Tmp: 4 << 20, Features: b.features(), Usable: true, Gres: map[string]int64{}}
	for _, name := range b.gres() {
		n.Gres[name] = 1 << 40
	}
	for _, of := range types {
		n.Gres["gpu:"+of], n.Gres["gpu"] = 8, n.Gres["gpu"]+8
	}
	return n
}

// asksGPUs reports whether the script asks for GPUs.
func (b *builder) asksGPUs() bool {
	return strings.HasPrefix(b.options["gres"], "gpu") || b.options["gpus"] != "" || b.options["gpus-per-node"] != "" || b.options["gpus-per-task"] != ""
}

// types returns the types of GPUs that are named, or one.
func (b *builder) types() (types []string) {
	for _, option := range []string{"gres", "gpus", "gpus-per-node", "gpus-per-task"} {
		for _, one := range split(b.options[option]) {
			words := strings.Split(strings.TrimPrefix(strings.ReplaceAll(one, "=", ":"), "gpu:"), ":")
			if option == "gres" && !strings.HasPrefix(one, "gpu") || words[0] == "gpu" || words[0] == "gpumem" {
				continue
			}
			if _, err := strconv.Atoi(words[0]); err != nil {
				types = append(types, words[0])
			}
		}
	}
	if len(types) == 0 {
		types = []string{"a100"}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// gres returns the names of generic resources that are named, other than GPUs.
func (b *builder) gres() (names []string) {
	for _, one := range split(b.options["gres"]) {
		if name := strings.FieldsFunc(one, func(c rune) bool { return c == ':' || c == '=' })[0]; name != "gpu" {
			names = append(names, name)
		}
	}
	return names
}

// features returns the features that are named.
func (b *builder) features() []string {
	return strings.FieldsFunc(b.options["constraint"], func(c rune) bool { return strings.ContainsRune("&|,[]()* ", c) })
}
