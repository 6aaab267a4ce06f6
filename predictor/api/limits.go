package api

// Limits are what a site's policy allows a user, and what she uses of it.
type Limits struct {
	User string `json:"user"`
	// Open counts her open reservations. NodeSeconds is for how long their nodes may idle before
	// the work, together.
	Open        int     `json:"open"`
	NodeSeconds float64 `json:"node_seconds"`
	// Rules are the rules that may apply to her, in the order of the site's file. All limits of
	// the rules that apply to a reservation bind. Of Reserve and Cost the first rule that has one
	// decides.
	Rules []LimitRule `json:"rules"`
	// Partitions are those that are open to an account of hers, by name. DefaultPartition is the one
	// of a job that names none, or empty if Slurm has no such.
	Partitions       []string `json:"partitions,omitempty"`
	DefaultPartition string   `json:"default_partition,omitempty"`
}

// LimitRule is one rule of a site's policy. A field that is not set is not a limit.
type LimitRule struct {
	Name string `json:"name"`
	// Selects says which reservations the rule applies to; it is empty if to all.
	Selects string `json:"selects,omitempty"`
	// Reserve says whether there are reservations.
	Reserve *bool   `json:"reserve,omitempty"`
	MaxProb float64 `json:"max_prob,omitempty"`
	// Cost is the ceiling on the cost of idle nodes for who names none, and MaxCost the highest,
	// both as values of --max-cost.
	Cost    string `json:"cost,omitempty"`
	MaxCost string `json:"max_cost,omitempty"`
	// Shares are what the rule counts.
	Shares []LimitShare `json:"shares,omitempty"`
}

// LimitShare is what a user, or the users of an account together, have at once of the
// reservations that a rule applies to, and may have.
type LimitShare struct {
	// User or Account is set, or neither, where jobs have no account.
	User    string `json:"user,omitempty"`
	Account string `json:"account,omitempty"`
	Open    int    `json:"open"`
	MaxOpen int    `json:"max_open,omitempty"`
	// NodeSeconds is for how long nodes may idle before the work, together.
	NodeSeconds    float64 `json:"node_seconds"`
	MaxNodeSeconds float64 `json:"max_node_seconds,omitempty"`
}
