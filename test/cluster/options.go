package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Options describes the cluster to start. The zero value is a cluster of 8 nodes with 4 CPUs
// each and the Chosen Slurm, in a new temporary folder. Its daemons end with its
// starter.
type Options struct {
	Dir     string // an empty or new folder; "" means a new temporary folder
	Version Version
	Name    string // ClusterName, default "lab"; a word of lower-case letters and digits
	Nodes   int    // default 8
	CPUs    int    // per node, default 4
	Threads int    // CPUs of a core, default 1
	Memory  int    // MiB per node, default 4000

	// Declared is how many nodes, far1 and so on, the cluster has besides Nodes. They have no
	// slurmd of their own: that of node1 answers for all of them, so that slurmctld sees them idle,
	// and a thousand take no memory. An allocation without processes, as of salloc --no-shell, runs
	// on them; what Slurm would have to launch there fails.
	Declared int

	// SlurmConf holds additional lines of slurm.conf. A line replaces the cluster's own
	// setting of the same parameter. A NodeName or PartitionName line replaces only the line
	// of the same node or partition.
	SlurmConf string
	// NodeConf holds additional parameters of every node, as "Features=ib Gres=gpu:a100:1".
	NodeConf string
	// Kinds divide the nodes where they differ: those of the first kind are the cluster's first
	// nodes. Nodes beyond the kinds have NodeConf alone.
	Kinds []Kind
	// GresConf is the text of gres.conf, for the generic resources of NodeConf and Kinds.
	GresConf string
	// Boot, if not 0, makes all nodes cloud nodes, which are powered down at first. Slurm powers
	// them up for jobs, and that takes so long. Only the cluster's starter can run their slurmds,
	// so that it cannot be Detached.
	Boot time.Duration
	// Crowd is how many users of Crowd there are besides Users.
	Crowd int
	// PlugStack holds the lines of plugstack.conf.
	PlugStack string
	// CliFilter is the text of cli_filter.lua. If it is empty, the cli_filter plugin is off.
	CliFilter string
	// JobSubmit is the text of job_submit.lua, for SlurmConf with JobSubmitPlugins=lua.
	JobSubmit string
	// Beside is a running cluster of the same Version, of which this one uses the slurmdbd and the
	// keys of munge and of tokens, as clusters of one site do. It must run for longer. If it is
	// nil, the cluster has its own.
	Beside *Cluster
	// Bind lists folders of the machine that are visible at the same paths in the chroot.
	// Without a chroot it has no effect.
	Bind []string

	// Env holds variables that Cluster.Env has besides its own.
	Env []string
	// Programs lists folders of programs, open to all users, in which Command looks before the
	// usual ones, as the commands do that it prepares.
	Programs []string

	// Detached keeps the cluster running when its starter ends. Otherwise the daemons are
	// killed when the starter dies.
	Detached bool
	// Progress receives messages about the steps of the start. If it is nil, they are
	// discarded.
	Progress io.Writer
}

// Kind is a number of nodes that have parameters of their own, besides Options.NodeConf.
type Kind struct {
	Nodes int
	Conf  string
}

// Upper limits of the size of a cluster on one machine.
const (
	maxNodes    = 512
	maxDeclared = 20_000
	maxCPUs     = 1024
)

func (o Options) withDefaults() (Options, error) {
	o.Version = cmp.Or(o.Version, Chosen())
	if o.Name == "" {
		o.Name = "lab"
	}
	if o.Nodes == 0 {
		o.Nodes = 8
	}
	if o.CPUs == 0 {
		o.CPUs = 4
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Memory == 0 {
		o.Memory = 4000
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	_, supported := o.Version.release()
	switch {
	case strings.ContainsAny(o.Dir, " \t\n#%,:[]"):
		return o, fmt.Errorf("folder %q has a character that means something else to Slurm", o.Dir)
	case !supported:
		return o, fmt.Errorf("version %q of Slurm is none of %s", o.Version, versions())
	case strings.Trim(o.Name, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		return o, fmt.Errorf("cluster name %q is not a word of lower-case letters and digits", o.Name)
	case o.Beside != nil && (o.Beside.Name == o.Name || o.Beside.Version != o.Version):
		return o, fmt.Errorf("cluster %s with Slurm %s beside %s with %s: they need different names and the same version", o.Name, o.Version, o.Beside.Name, o.Beside.Version)
	case o.Nodes < 1 || o.Nodes > maxNodes:
		return o, fmt.Errorf("nodes: %d is not in 1..%d", o.Nodes, maxNodes)
	case o.Boot != 0 && o.Detached:
		return o, errors.New("the nodes of a detached cluster cannot be cloud nodes")
	case o.ofKinds() > o.Nodes:
		return o, fmt.Errorf("%d nodes of a kind, in a cluster of %d", o.ofKinds(), o.Nodes)
	case o.Declared < 0 || o.Declared > maxDeclared:
		return o, fmt.Errorf("declared nodes: %d is not in 0..%d", o.Declared, maxDeclared)
	case o.CPUs < 1 || o.CPUs > maxCPUs:
		return o, fmt.Errorf("CPUs of a node: %d is not in 1..%d", o.CPUs, maxCPUs)
	case o.Threads < 1 || o.CPUs%o.Threads != 0:
		return o, fmt.Errorf("threads of a core: %d do not divide the %d CPUs of a node", o.Threads, o.CPUs)
	case o.Memory < 1:
		return o, fmt.Errorf("a node of %d MiB", o.Memory)
	}
	return o, nil
}

// ofKinds returns how many nodes are of a kind.
func (o Options) ofKinds() (nodes int) {
	for _, k := range o.Kinds {
		nodes += k.Nodes
	}
	return nodes
}

// users returns the users of the cluster.
func (o *Options) users() []User { return append(Users(), Crowd(o.Crowd)...) }
