package twin

// Machines returns the name of the machine that a partition's jobs run on, and its
// processors. Several partitions may share a machine. Of an empty name, or by nil
// Machines, the machine is learnt.
type Machines func(partition string) (name string, procs int32)

// partition is what has been seen of one.
type partition struct {
	configured *machine // or nil
	own        machine  // of its own, if separate
	separate   bool
	usage      usage
	rest       usage // of all other partitions
}

// machine is processors that jobs wait for together.
type machine struct {
	learner
	procs [sizes]int32
}

// partitions finds out which partitions share processors, and how many there are.
//
// At first all partitions share one machine. A partition gets its own once it is seen
// to add processors: all partitions at once then use more than it alone, or all others
// alone, by at least three quarters of the smaller of the two. A partition of a shared
// machine adds less, as that machine is full at times. The size of a machine is the
// usage that is rarely exceeded.
type partitions struct {
	configured Machines
	byMachine  map[string]*machine // configured
	byName     map[string]*partition
	shared     machine
	usage      usage // of all
	due        int   // changes of the usage until estimate
}

// estimateGap is how many changes of the usage pass between two estimates.
const estimateGap = 64

// of returns the partition of a name.
func (p *partitions) of(name string) *partition {
	if found, ok := p.byName[name]; ok {
		return found
	}
	if p.byName == nil {
		p.byName = make(map[string]*partition)
	}
	made := &partition{rest: usage{used: p.usage.used}}
	p.byName[name] = made
	if p.configured != nil {
		if machine, procs := p.configured(name); machine != "" {
			made.configured = p.named(machine, procs)
		}
	}
	return made
}

// named returns a configured machine, with at least so many processors.
func (p *partitions) named(name string, procs int32) *machine {
	if p.byMachine == nil {
		p.byMachine = make(map[string]*machine)
	}
	m, ok := p.byMachine[name]
	if !ok {
		m = new(machine)
		p.byMachine[name] = m
	}
	for size := range m.procs {
		m.procs[size] = max(m.procs[size], procs)
	}
	return m
}

// take counts processors that the jobs of a partition use from now on; fewer if
// negative.
func (p *partitions) take(now int64, in *partition, procs int32) {
	in.usage.change(now, procs)
	p.usage.change(now, procs)
	for _, each := range p.byName {
		if each != in {
			each.rest.change(now, procs)
		}
	}
	if p.due--; p.due <= 0 {
		p.due = estimateGap
		p.estimate()
	}
}

// estimate works out the sizes of the machines, and which partitions are separate.
func (p *partitions) estimate() {
	all, most := p.usage.full(), [sizes]int32{}
	p.shared.procs = all
	for _, each := range p.byName {
		own, rest := each.usage.full(), each.rest.full()
		low, high := min(own[0], rest[0]), max(own[0], rest[0])
		each.own.procs = own
		each.separate = low > 0 && all[0] >= high+low*3/4+1
		for size := range own {
			if each.separate {
				p.shared.procs[size] -= own[size]
			} else {
				most[size] = max(most[size], own[size])
			}
		}
	}
	for size := range most {
		p.shared.procs[size] = max(p.shared.procs[size], most[size])
	}
}

// machine returns the machine of a partition.
func (p *partitions) machine(in *partition) *machine {
	switch {
	case in.configured != nil:
		return in.configured
	case in.separate:
		return &in.own
	}
	return &p.shared
}
