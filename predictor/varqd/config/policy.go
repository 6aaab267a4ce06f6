package config

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/policy"
)

// Rule is one rule of who may reserve, and how much at once.
type Rule struct {
	// Name is what refusals call the rule; without one it is the rule's place in the file.
	Name string `yaml:"name"`
	// Partition, Account, QOS and User select reservations; empty selects all.
	Partition Names `yaml:"partition"`
	Account   Names `yaml:"account"`
	QOS       Names `yaml:"qos"`
	User      Names `yaml:"user"`
	// Reserve says whether there are reservations; nil leaves it to the rules below.
	Reserve *bool `yaml:"reserve"`
	// PerUser and PerAccount bound what is open at once.
	PerUser    Open `yaml:"per_user"`
	PerAccount Open `yaml:"per_account"`
	// MaxProb is the highest probability; nil is not a limit.
	MaxProb *float64 `yaml:"max_prob"`
	// Cost is the ceiling on the cost of idle nodes for who names none, MaxCost the highest.
	Cost    Cost `yaml:"cost"`
	MaxCost Cost `yaml:"max_cost"`
}

// Open bounds open reservations, and the node-hours for which their nodes may idle; nil is no
// limit.
type Open struct {
	Reservations *Count   `yaml:"reservations"`
	NodeHours    *float64 `yaml:"node_hours"`
}

// Count is a whole number.
type Count int

// UnmarshalYAML implements yaml.Unmarshaler. A fraction is an error, and not cut off.
func (c *Count) UnmarshalYAML(node *yaml.Node) error {
	if node.ShortTag() != "!!int" {
		return fmt.Errorf("line %d: %q is not a whole number", node.Line, node.Value)
	}
	return node.Decode((*int)(c))
}

// Names is a name or a list of names.
type Names []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *Names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = Names{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// Cost is a value of --max-cost.
type Cost api.MaxCost

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *Cost) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: not a cost, such as 0.5 or 2x", node.Line)
	}
	parsed, err := api.ParseMaxCost(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	*c = Cost(parsed)
	return nil
}

// Rules returns the rules of the section policy.
func (c *Config) Rules() policy.Rules {
	var rules policy.Rules
	for i := range c.Policy {
		r := &c.Policy[i]
		rule := policy.Rule{
			Name: r.name(i), Partitions: r.Partition, Accounts: r.Account, QOS: r.QOS, Users: r.User, Reserve: r.Reserve,
			PerUser: r.PerUser.limits(), PerAccount: r.PerAccount.limits(), Cost: r.Cost.policy(), MaxCost: r.MaxCost.policy(),
		}
		if r.MaxProb != nil {
			rule.MaxProb = *r.MaxProb
		}
		rules = append(rules, rule)
	}
	return rules
}

// name returns the rule's name, or its place in the file.
func (r *Rule) name(i int) string {
	if r.Name == "" {
		return strconv.Itoa(i + 1)
	}
	return r.Name
}

func (c Cost) policy() policy.Cost {
	return policy.Cost(c)
}

func (o Open) limits() (l policy.Limits) {
	if o.Reservations != nil {
		l.Open = int(*o.Reservations)
	}
	if o.NodeHours != nil {
		l.NodeSeconds = 3600 * *o.NodeHours
	}
	return l
}
