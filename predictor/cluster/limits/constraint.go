package limits

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// constraint is an expression of features, as of sbatch --constraint.
type constraint struct {
	// features are the names in the expression.
	features []string
	// counted is true if the expression says more than which features a node must have: how
	// many nodes must have them (rack1*2), or that all nodes must have the same ([rack1|rack2]).
	counted bool
	// nodes is the sum of the numbers of nodes after features, 0 if there are none. Slurm gives the
	// job that many at least.
	nodes int64
	root  term
}

// term is an operator and its operands, or a feature.
type term struct {
	feature string
	all     bool // of the operands; otherwise one of them
	of      []term
}

// maxConstraint is the greatest length of a constraint, in bytes.
const maxConstraint = 4096

var errConstraint = errors.New("this is not an expression of features such as ib, ib&gpu or rack1|rack2")

// parseConstraint reads an expression. As in Slurm, & and | are evaluated from left to right.
func parseConstraint(text string) (*constraint, error) {
	if len(text) > maxConstraint {
		return nil, errConstraint
	}
	c := &constraint{counted: strings.ContainsAny(text, "[]*")}
	p := parser{rest: strings.NewReplacer(" ", "", "[", "(", "]", ")").Replace(text), into: c}
	var err error
	if c.root, err = p.expression(); err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, errConstraint
	}
	return c, nil
}

// parser reads what is left of a text.
type parser struct {
	rest string
	into *constraint
}

func (p *parser) expression() (term, error) {
	left, err := p.operand()
	for err == nil && p.rest != "" && strings.ContainsRune("&|,", rune(p.rest[0])) {
		all := p.rest[0] != '|' // a comma is an and
		p.rest = p.rest[1:]
		var right term
		right, err = p.operand()
		left = term{all: all, of: []term{left, right}}
	}
	return left, err
}

func (p *parser) operand() (term, error) {
	if strings.HasPrefix(p.rest, "(") {
		p.rest = p.rest[1:]
		inner, err := p.expression()
		if err != nil || !strings.HasPrefix(p.rest, ")") {
			return inner, errConstraint
		}
		p.rest = p.rest[1:]
		return inner, p.count()
	}
	end := strings.IndexAny(p.rest+"&", "&|,()*")
	name := p.rest[:end]
	if name == "" {
		return term{}, errConstraint
	}
	p.rest = p.rest[end:]
	p.into.features = append(p.into.features, name)
	return term{feature: name}, p.count()
}

// count reads over the number of nodes after a feature, "*2".
func (p *parser) count() error {
	if !strings.HasPrefix(p.rest, "*") {
		return nil
	}
	rest := strings.TrimLeft(p.rest[1:], "0123456789")
	n, err := strconv.ParseInt(p.rest[1:len(p.rest)-len(rest)], 10, 32)
	if err != nil {
		return errConstraint
	}
	p.into.nodes += n
	p.rest = rest
	return nil
}

// fits reports whether a node has the features that the constraint asks for.
func (c *constraint) fits(n *Node) bool {
	features := make(map[string]bool, len(n.Features))
	for _, f := range n.Features {
		features[f] = true
	}
	return c.admits(features)
}

// admits reports whether a node with these features satisfies the constraint. If it is counted,
// only a node with all its features does.
func (c *constraint) admits(features map[string]bool) bool {
	if !c.counted {
		return c.root.admits(features)
	}
	for _, name := range c.features {
		if !features[name] {
			return false
		}
	}
	return true
}

func (t *term) admits(features map[string]bool) bool {
	if t.of == nil {
		return features[t.feature]
	}
	for i := range t.of {
		if t.of[i].admits(features) != t.all {
			return !t.all
		}
	}
	return t.all
}

// unknown returns an error if no node of the cluster has one of the features.
func (c *constraint) unknown(nodes map[string]Node) error {
	known := map[string]bool{}
	for _, n := range nodes {
		for _, f := range n.Features {
			known[f] = true
		}
	}
	for _, f := range c.features {
		if !known[f] {
			return fmt.Errorf("no node has the feature %s", f)
		}
	}
	return nil
}
