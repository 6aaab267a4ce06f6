package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// Pools returns the pool that the jobs of a place run on. The Twin learns the pools without a
// name, and all pools if its Pools are nil.
type Pools func(workload.Place) Pool

// Pool is the nodes that the jobs of some partitions share.
type Pool struct {
	Name string
	// Size has the nodes, of which 0 stand for a number that is not known, their CPUs and GPUs,
	// and their memory if jobs have it for themselves.
	Size workload.Size
	// Windows are when Slurm's own reservations have nodes of the pool, and what they leave of its
	// CPUs. They may be over.
	Windows rollout.Windows
	// Apart are the nodes that the reservations have now, by name, and until when, in Unix seconds.
	// Jobs whose nodes are among them take nothing of what Windows leave.
	Apart map[string]int64
	// Own is the size of what the place has of it, Nodes are its nodes, and OwnWindows is Windows of
	// these.
	Own        workload.Size
	Nodes      []Node
	OwnWindows rollout.Windows
	// WholeNodes is true if jobs of the partition have their nodes alone.
	WholeNodes bool
}

// Node is a node of a place. Its Nodes are 0 if it starts no more jobs.
type Node struct {
	Name string
	workload.Size
}

// ofNode returns the CPUs that a job has of each of its nodes at least, as far as that is known.
func (p *Pool) ofNode() int32 {
	if !p.WholeNodes || p.Size.Nodes == 0 {
		return 0
	}
	return p.Size.CPUs / p.Size.Nodes
}

// partition is what has been seen of one partition, or of a part of it: of the jobs of one place.
type partition struct {
	configured *pool // or nil
	own        pool  // used if separate
	separate   bool
	ground
	runners *runners               // as Twin.running returned them last, or nil
	shares  map[*partition]float64 // as shareOf returned them
	usage   usage
	rest    usage // of all other partitions
}

// ground is what a partition has of its configured pool. It is not changed, but replaced.
type ground struct {
	part    workload.Size
	nodes   []Node
	index   map[string]int // of nodes, by name
	windows rollout.Windows
	ofNode  int32 // CPUs that a job has of each of its nodes at least, or 0
	// perGPU and perMiB are how many CPUs there are for each GPU and for each MiB of memory that
	// jobs have for themselves; 0 if they never keep a CPU from others.
	perGPU, perMiB float64
}

// pool is processors that jobs wait for together.
type pool struct {
	learner
	procs [sizeCount]int32 // by estimate of the size; if configured, all at least that
	size  workload.Size    // if configured
	// windows and apart are Pool.Windows and Pool.Apart.
	windows rollout.Windows
	apart   map[string]int64
	records map[recorded]*records // as Twin.records has them; nil while there are none
}

// isApart reports whether a job that runs until planned at the latest is apart on its nodes, as far
// as these are known.
func (p *pool) isApart(nodes []string, planned int64) bool {
	for _, name := range nodes {
		if planned > p.apart[name] {
			return false
		}
	}
	return len(nodes) > 0
}

// partitions finds out which partitions share a pool, and how many processors it has.
//
// At first all partitions share one pool. Let a be the size of a partition's usage, b
// that of all others together, and c that of all partitions at once. The partition gets
// its own pool once
//
//	c > max(a,b) + 3/4 min(a,b),
//
// as it then adds processors. A partition of a shared pool adds less, because that pool
// is full at times. The size of a usage is a number of processors that it rarely exceeds.
type partitions struct {
	pools   Pools
	byPool  map[string]*pool // configured
	byPlace map[workload.Place]*partition
	shared  pool
	usage   usage // of all
	due     int   // changes of the usage until estimate
}

// estimateGap is how many changes of the usage pass between two estimates.
const estimateGap = 64

// mostPartitions is how many partitions are known when further node sets count as their whole
// partition. Users may ask for any.
const mostPartitions = 512

// at returns the partition of a place.
func (p *partitions) at(place workload.Place) *partition {
	if p.pools == nil {
		place.NodeSet = ""
	}
	if found, ok := p.byPlace[place]; ok {
		return found
	}
	if place.NodeSet != "" && len(p.byPlace) >= mostPartitions {
		return p.at(workload.Place{Partition: place.Partition})
	}
	if p.byPlace == nil {
		p.byPlace = make(map[workload.Place]*partition)
	}
	made := &partition{rest: usage{used: p.usage.used}}
	p.byPlace[place] = made
	if p.pools != nil {
		p.configure(made, place)
	}
	return made
}

// configure gives the partition of a place the pool that is configured for it, if one is.
func (p *partitions) configure(in *partition, place workload.Place) {
	in.configured, in.ground, in.runners, in.shares = nil, ground{}, nil, nil
	if pool := p.pools(place); pool.Name != "" {
		in.configured = p.configured(pool.Name, pool.Size)
		in.configured.windows, in.configured.apart = pool.Windows, pool.Apart
		in.ground = pool.ground()
	}
}

// ground returns what a place has of the pool.
func (p *Pool) ground() ground {
	g := ground{part: p.Own, nodes: p.Nodes, index: make(map[string]int, len(p.Nodes)), windows: p.OwnWindows, ofNode: p.ofNode()}
	gpus := len(g.nodes) > 0
	for i := range g.nodes {
		g.index[g.nodes[i].Name] = i
		gpus = gpus && g.nodes[i].GPUs > 0
	}
	if gpus {
		g.perGPU = float64(g.part.CPUs) / float64(g.part.GPUs)
	}
	if g.part.Memory > 0 {
		g.perMiB = float64(g.part.CPUs) / float64(g.part.Memory)
	}
	return g
}

// shareOf returns the share of the nodes of another partition that this one has, too.
func (in *partition) shareOf(other *partition) float64 {
	share, known := in.shares[other]
	if !known {
		both := 0
		for i := range other.nodes {
			if _, ok := in.index[other.nodes[i].Name]; ok {
				both++
			}
		}
		if in.shares == nil {
			in.shares = make(map[*partition]float64)
		}
		share = float64(both) / float64(max(1, len(other.nodes)))
		in.shares[other] = share
	}
	return share
}

// takes returns how many processors a request takes at least.
func (g *ground) takes(r *workload.Request) int32 {
	return max(r.Procs(), int32(min(int64(r.Nodes)*int64(g.ofNode), math.MaxInt32)))
}

// takesJob returns how many processors a job takes at least, or takes if it has started.
func (g *ground) takesJob(j *workload.Job) int32 { return max(g.takes(&j.Request), j.Given) }

// configured returns the configured pool of a name, of at least a size.
func (p *partitions) configured(name string, size workload.Size) *pool {
	if p.byPool == nil {
		p.byPool = make(map[string]*pool)
	}
	found, ok := p.byPool[name]
	if !ok {
		found = new(pool)
		p.byPool[name] = found
	}
	for i := range found.procs {
		found.procs[i] = max(found.procs[i], size.CPUs)
	}
	is := &found.size
	is.Nodes, is.CPUs = max(is.Nodes, size.Nodes), max(is.CPUs, size.CPUs)
	is.GPUs, is.Memory = max(is.GPUs, size.GPUs), max(is.Memory, size.Memory)
	return found
}

// resize takes in what is configured now, if it was configured before. It forgets the node sets
// that are not used.
func (p *partitions) resize(pools Pools, used map[*partition]bool) {
	if p.pools == nil || pools == nil {
		return
	}
	p.pools = pools
	for _, known := range p.byPool {
		known.procs, known.size, known.records = [sizeCount]int32{}, workload.Size{}, nil
	}
	for place, each := range p.byPlace {
		if place.NodeSet != "" && !used[each] {
			delete(p.byPlace, place)
			continue
		}
		p.configure(each, place)
	}
}

// tooLarge reports whether a request needs more processors or nodes than are configured where its
// job may run.
func (p *partitions) tooLarge(r *workload.Request) bool {
	s := p.stage(p.at(r.Place()))
	switch {
	case s.in.configured == nil:
		return false
	case s.partly:
		return s.in.tooLarge(r, &s.in.part)
	}
	return s.in.tooLarge(r, &s.size)
}

// tooLarge reports whether a request needs more processors or nodes than a pool of a size has.
func (g *ground) tooLarge(r *workload.Request, pool *workload.Size) bool {
	return g.takes(r) > pool.CPUs || pool.Nodes > 0 && r.Nodes > pool.Nodes
}

// change adds procs (negative removes) to the processors that the jobs of a partition use
// from now on.
func (p *partitions) change(now int64, in *partition, procs int32) {
	in.usage.change(now, procs)
	p.usage.change(now, procs)
	for _, each := range p.byPlace {
		if each != in {
			each.rest.change(now, procs)
		}
	}
	if p.due--; p.due <= 0 {
		p.due = estimateGap
		p.estimate()
	}
}

// estimate works out which partitions are separate, and the sizes of the pools that are
// not configured.
func (p *partitions) estimate() {
	all, largest := p.usage.sizes(), [sizeCount]int32{}
	p.shared.procs = all
	for _, each := range p.byPlace {
		own, rest := each.usage.sizes(), each.rest.sizes()
		low, high := min(own[0], rest[0]), max(own[0], rest[0])
		each.own.procs = own
		each.separate = low > 0 && all[0] >= high+low*3/4+1
		for i := range own {
			if each.separate {
				p.shared.procs[i] -= own[i]
			} else {
				largest[i] = max(largest[i], own[i])
			}
		}
	}
	for i := range largest {
		p.shared.procs[i] = max(p.shared.procs[i], largest[i])
	}
}

// pool returns the pool of a partition.
func (p *partitions) pool(in *partition) *pool {
	switch {
	case in.configured != nil:
		return in.configured
	case in.separate:
		return &in.own
	}
	return &p.shared
}
