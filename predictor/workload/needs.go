package workload

// Needs are the parts of a submission that say on which nodes the job may run, and what else
// must be free for it. A field that is zero restricts nothing.
type Needs struct {
	// MostNodes is the greatest number of nodes that the job may have: unless its options say a
	// number, Slurm may spread its tasks over more nodes than they need.
	MostNodes int32 `json:"most_nodes,omitempty"`
	// NodeCPUs, NodeMemory and NodeTmp (temporary disk; both MiB) are what each of the job's nodes
	// must have.
	NodeCPUs   NodeNeed `json:"node_cpus,omitzero"`
	NodeMemory NodeNeed `json:"node_memory,omitzero"`
	NodeTmp    NodeNeed `json:"node_tmp,omitzero"`
	Gres       []Gres   `json:"gres,omitempty"`
	// Constraint is an expression of features, as of sbatch --constraint.
	Constraint string `json:"constraint,omitempty"`
	// NodeList are nodes that the job must have, and Exclude nodes that it must not have.
	NodeList NamedNodes `json:"node_list,omitzero"`
	Exclude  NamedNodes `json:"exclude,omitzero"`
	// Exclusive is true if the job shares its nodes with no other job.
	Exclusive bool `json:"exclusive,omitempty"`
	// Scale are the options that make the job smaller if all their counts are divided by the same
	// number: its nodes, or else the CPUs of its node. It is empty if there are none such.
	Scale []Counted `json:"scale,omitempty"`
	// PerCore is how many CPUs of each core the job uses at most, 0 for all of them. The others stay
	// idle, and count as the job's.
	PerCore int32 `json:"per_core,omitempty"`
	// Licenses and Reservation are as of sbatch.
	Licenses    string `json:"licenses,omitempty"`
	Reservation string `json:"reservation,omitempty"`
}

// AllMemory reports whether the job asks for all the memory of its nodes: --mem=0, or
// --mem-per-cpu=0, which Slurm takes for the same.
func (n *Needs) AllMemory() bool {
	each := n.NodeMemory
	return each.Amount == 0 && (each.Option == "--mem" || each.Option == "--mem-per-cpu")
}

// On returns the needs of the job if it is to have exactly a number of nodes. If n is nil, so are
// these.
func (n *Needs) On(nodes int32) *Needs {
	if n == nil {
		return nil
	}
	on := *n
	on.MostNodes, on.Scale = nodes, nil
	return &on
}

// NodeNeed is an amount that each node must have, and the option that says so ("--mem").
type NodeNeed struct {
	Amount int64  `json:"amount"`
	Option string `json:"option"`
}

// Counted is an option whose value ends in a count: "--gpus=a100:" and 4.
type Counted struct {
	Option string `json:"option"`
	Count  int64  `json:"count"`
}

// NamedNodes are nodes, and the option that names them ("--exclude=node[2-3]").
type NamedNodes struct {
	Names  []string `json:"names"`
	Option string   `json:"option"`
}

// Gres asks for a generic resource, such as GPUs.
type Gres struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Count int64  `json:"count"`
	// PerNode is true if the count is that of each node, and false if it is the job's.
	PerNode bool `json:"per_node,omitempty"`
	// Option is the option that asks for it ("--gpus=h100:1").
	Option string `json:"option"`
}
