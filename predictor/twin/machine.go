package twin

import "github.com/varq-project/varq/predictor/workload"

// partition is what has been seen of one.
type partition struct {
	told *machine // its machine as configured, or nil
	own  machine  // if it is separate
	used int32    // processors that its jobs run on
	most int32    // ever used at once
	rest int32    // the most that all other partitions ever used at once
}

// machine is processors that jobs wait for together.
type machine struct {
	learner
	told int32 // processors as configured
}

// partitions finds out which partitions share processors, and how many there are.
//
// At first all share one machine. A partition has one of its own as soon as it was
// seen that it adds: that all partitions at once used more processors than this one
// or all others ever did alone, by at least half of the smaller of the two. Partitions
// that share a machine can add nothing in this sense once it has been full. A
// machine has as many processors as were ever used at once.
type partitions struct {
	configured func(partition string) (machine string, procs int32) // or nil
	byMachine  map[string]*machine
	byName     map[string]*partition
	shared     machine
	used       int32 // processors that jobs run on
	most       int32 // ever used at once
}

// of returns the partition of a name.
func (p *partitions) of(name string) *partition {
	if found, ok := p.byName[name]; ok {
		return found
	}
	if p.byName == nil {
		p.byName = make(map[string]*partition)
	}
	made := new(partition)
	p.byName[name] = made
	if p.configured != nil {
		made.told = p.toldOf(p.configured(name))
	}
	return made
}

// toldOf returns a machine as it was configured.
func (p *partitions) toldOf(name string, procs int32) *machine {
	if p.byMachine == nil {
		p.byMachine = make(map[string]*machine)
	}
	m, ok := p.byMachine[name]
	if !ok {
		m = new(machine)
		p.byMachine[name] = m
	}
	m.told = max(m.told, procs)
	return m
}

// take counts processors that the jobs of a partition run on from now on, fewer if
// procs is negative.
func (p *partitions) take(in *partition, procs int32) {
	in.used += procs
	p.used += procs
	in.most = max(in.most, in.used)
	p.most = max(p.most, p.used)
	for _, each := range p.byName {
		each.rest = max(each.rest, p.used-each.used)
	}
}

// separate reports whether a partition has a machine of its own.
func (p *partitions) separate(in *partition) bool {
	low, high := min(in.most, in.rest), max(in.most, in.rest)
	return low > 0 && p.most >= high+(low+1)/2
}

// machine returns the machine of a partition.
func (p *partitions) machine(in *partition) *machine {
	switch {
	case in.told != nil:
		return in.told
	case p.separate(in):
		return &in.own
	}
	return &p.shared
}

// procs returns the number of processors of a partition's machine.
func (p *partitions) procs(in *partition) int32 {
	switch {
	case in.told != nil:
		return in.told.told
	case p.separate(in):
		return in.most
	}
	procs := p.most
	for _, each := range p.byName {
		if p.separate(each) {
			procs -= each.most
		}
	}
	return max(procs, in.most)
}

// procs returns the processors that a request asks for, or the nodes, where that is
// all that is known.
func procs(r *workload.Request) int32 { return max(1, r.CPUs, r.Nodes) }
