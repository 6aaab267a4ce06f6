package twin

// partition is what has been seen of one.
type partition struct {
	told     *machine // its machine as configured, or nil
	own      machine
	separate bool // its own machine is what its jobs run on
	usage    usage
	rest     usage // of all other partitions
}

// machine is processors that jobs wait for together.
type machine struct {
	learner
	procs [sizes]int32
}

// partitions finds out which partitions share processors, and how many there are.
//
// At first all share one machine. A partition has one of its own as soon as it was
// seen that it adds: that all partitions at once use more processors than this one
// or all others alone, by at least three quarters of the smaller of the two.
// Partitions that share a machine which is full at times add less. A machine has as
// many processors as are in use when rarely more are.
type partitions struct {
	configured func(partition string) (machine string, procs int32) // or nil
	byMachine  map[string]*machine
	byName     map[string]*partition
	shared     machine
	usage      usage // of all
	due        int   // changes until what is learnt is worked out anew
}

// workedOut is how many changes of the usage pass before what is learnt from it is
// worked out anew.
const workedOut = 64

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
			made.told = p.toldOf(machine, procs)
		}
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
	for size := range m.procs {
		m.procs[size] = max(m.procs[size], procs)
	}
	return m
}

// take counts processors that the jobs of a partition run on from a time on, or fewer.
func (p *partitions) take(now int64, in *partition, procs int32) {
	in.usage.change(now, procs)
	p.usage.change(now, procs)
	for _, each := range p.byName {
		if each != in {
			each.rest.change(now, procs)
		}
	}
	if p.due--; p.due <= 0 {
		p.due = workedOut
		p.workOut()
	}
}

// workOut finds out how many processors machines have, and which partitions have one
// of their own.
func (p *partitions) workOut() {
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
	case in.told != nil:
		return in.told
	case in.separate:
		return &in.own
	}
	return &p.shared
}
