package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// advice ends the sentence of a rule about what cannot be forecast.
const advice = ": leave it out, or submit the job without a promise"

// CheckNeeds returns the rule by which Slurm would refuse the job at its submission, or by which
// nothing can be forecast for it; nil if there is none. Waits are forecast for jobs that may run
// on any nodes of their partition that have the CPUs, the memory and the GPUs. So what leaves out
// other nodes of these is a rule, too, and so is what must be free besides nodes.
func (j *Job) CheckNeeds() *Rule {
	if rule := j.checkAccess(); rule != nil {
		return rule
	}
	if j.partition.Segments {
		return need("--partition=%s: jobs have parts of the network alone there, and when one is free cannot be forecast: "+
			"take another partition, or submit the job without a promise", j.Partition)
	}
	if !j.needy {
		return nil
	}
	if rule := j.checkReservation(); rule != nil {
		return rule
	}
	if rule := j.cluster.checkLicenses(j.needs.Licenses); rule != nil {
		return rule
	}
	if rule := j.checkMaxMemory(); rule != nil {
		return rule
	}
	if j.cluster.Nodes == nil {
		return nil
	}
	_, rule := j.selected()
	return rule
}

// Fitting returns the nodes of the partition that satisfy the job's needs and may start jobs.
func (j *Job) Fitting() []Node {
	nodes, _ := j.selected()
	return slices.DeleteFunc(nodes, func(n Node) bool { return !n.Usable })
}

// selected returns the known nodes of the partition that satisfy the needs, or the first rule by
// which these cannot be satisfied.
func (j *Job) selected() ([]Node, *Rule) {
	s := selection{Job: j}
	for _, name := range j.partition.Nodes {
		if node, ok := j.cluster.Nodes[name]; ok {
			s.nodes = append(s.nodes, node)
		}
	}
	for _, check := range []func() *Rule{s.checkExclude, s.checkNodeList, s.checkConstraint, s.checkNodeCPUs, s.checkNodeMemory, s.checkMemoryCPUs, s.checkNodeTmp, s.checkGres, s.checkTotals} {
		if rule := check(); rule != nil {
			return nil, rule
		}
	}
	return s.nodes, nil
}

func (j *Job) checkReservation() *Rule {
	name, all := j.needs.Reservation, j.cluster.Reservations
	if name == "" {
		return nil
	}
	option := "--reservation=" + name
	for one := range strings.SplitSeq(name, ",") {
		i := slices.IndexFunc(all, func(v Reservation) bool { return v.Name == one })
		if i < 0 {
			return need("%s: Slurm has no reservation %s", option, one)
		}
		if v := &all[i]; !v.admits(&j.Request) {
			return need("%s: reservation %s admits neither user %s nor account %s", option, one, j.User, j.Account)
		}
	}
	return need("%s: waits inside of a reservation of Slurm cannot be forecast: submit the job without a promise, since the reservation keeps its nodes free", option)
}

// checkLicenses checks a list such as "matlab:2,ansys". When a licence is free cannot be
// forecast, unless so many are free that they hardly run out: if each CPU of the cluster ran a
// job with as many.
func (c *Cluster) checkLicenses(list string) *Rule {
	if list == "" || c.Licenses == nil {
		return nil
	}
	cpus := int64(0)
	for _, n := range c.Nodes {
		cpus += n.CPUs
	}
	option := "--licenses=" + list
	for item := range strings.FieldsFuncSeq(list, func(c rune) bool { return strings.ContainsRune(",;|", c) }) {
		name, text, counted := strings.Cut(item, ":")
		count := int64(1)
		if counted {
			var err error
			if count, err = strconv.ParseInt(text, 10, 32); err != nil || count < 0 {
				return need("%s: %q is not a number of licences", option, text)
			}
		}
		of, known := c.Licenses[name]
		switch {
		case !known:
			return need("%s: Slurm has no licence %s", option, name)
		case count > of.Total:
			return need("%s: there are %d of licence %s", option, of.Total, name)
		case count*cpus > of.Total:
			return need("%s: when %d of the %d of licence %s are free cannot be forecast%s", option, count, of.Total, name, advice)
		case count*cpus > of.Total-of.Used:
			return need("%s: %d of the %d of licence %s are in use, and when enough are free cannot be forecast%s, or ask again when fewer are in use", option, of.Used, of.Total, name, advice)
		}
	}
	return nil
}

func need(format string, args ...any) *Rule {
	return &Rule{Name: "needs", Says: fmt.Sprintf(format, args...)}
}

// Few is the largest share of the nodes that a job may leave out and still wait like those that may
// run on any of them.
const Few = 1. / 8

// few reports whether so many of some nodes are Few of them at most.
func few(left, of int) bool { return float64(left) <= Few*float64(of) }

// selection is the nodes of the job's partition that satisfy the needs checked so far.
type selection struct {
	*Job
	nodes []Node
	out   int // usable nodes that narrow has left out
}

// keep leaves only the nodes that are fit. It returns a rule if they are too few.
func (s *selection) keep(option, have string, fit func(*Node) bool) *Rule {
	all := len(s.partition.Nodes)
	s.nodes = slices.DeleteFunc(s.nodes, func(n Node) bool { return !fit(&n) })
	if len(s.nodes) >= int(s.Nodes) {
		return nil
	}
	return need("%s: %d of the %s of partition %s %s, and the job needs %d", option, len(s.nodes), count(all, "node"), s.Partition, have, s.Nodes)
}

// narrow is keep for what no forecast knows of: it also returns a rule if all that is such leaves
// out more than Few of the nodes that jobs may run on now.
func (s *selection) narrow(option, have string, fit func(*Node) bool) *Rule {
	usable := func() int {
		n := 0
		for i := range s.nodes {
			if s.nodes[i].Usable {
				n++
			}
		}
		return n
	}
	before := usable()
	if rule := s.keep(option, have, fit); rule != nil {
		return rule
	}
	after := usable()
	s.out += before - after
	if !few(s.out, after+s.out) {
		return need("%s leaves %d of %s that partition %s has for such a job, and waits are forecast only for any of them%s", option, after, count(before, "node"), s.Partition, advice)
	}
	return nil
}

func (s *selection) checkExclude() *Rule {
	named := &s.needs.Exclude
	if len(named.Names) == 0 {
		return nil
	}
	if rule := s.exist(named); rule != nil {
		return rule
	}
	return s.narrow(named.Option, "remain", func(n *Node) bool { return !slices.Contains(named.Names, n.Name) })
}

func (s *selection) checkNodeList() *Rule {
	named := &s.needs.NodeList
	if len(named.Names) == 0 {
		return nil
	}
	if rule := s.exist(named); rule != nil {
		return rule
	}
	for _, name := range named.Names {
		if !slices.ContainsFunc(s.nodes, func(n Node) bool { return n.Name == name }) {
			return need("%s: node %s is not in partition %s, or is excluded", named.Option, name, s.Partition)
		}
	}
	if slices.ContainsFunc(s.nodes, func(n Node) bool { return n.Usable && !slices.Contains(named.Names, n.Name) }) {
		return need("%s: how long certain nodes are busy cannot be forecast, only how long a job waits for any nodes of partition %s%s", named.Option, s.Partition, advice)
	}
	return nil
}

// exist checks that the cluster has the nodes.
func (s *selection) exist(named *workload.NamedNodes) *Rule {
	for _, name := range named.Names {
		if _, ok := s.cluster.Nodes[name]; !ok {
			return need("%s: there is no node %s", named.Option, name)
		}
	}
	return nil
}

func (s *selection) checkConstraint() *Rule {
	if s.needs.Constraint == "" {
		return nil
	}
	option := "--constraint=" + s.needs.Constraint
	c, err := parseConstraint(s.needs.Constraint)
	if err == nil {
		err = c.unknown(s.cluster.Nodes)
	}
	if err != nil {
		return need("%s: %s", option, err)
	}
	if c.nodes > 0 {
		next := advice
		if len(c.features) == 1 {
			next = fmt.Sprintf(": say --nodes=%d --constraint=%s", max(c.nodes, int64(s.Nodes)), c.features[0])
		}
		return need("%s: numbers of nodes among features may give the job more nodes than its costs and its forecast are of%s", option, next)
	}
	if c.counted && slices.ContainsFunc(s.nodes, func(n Node) bool { return !c.fits(&n) }) {
		return need("%s: waits are forecast for any nodes of a partition, and not for a choice among their features%s", option, advice)
	}
	return s.narrow(option, "have these features", c.fits)
}

func (s *selection) checkNodeCPUs() *Rule {
	return s.checkEach(&s.needs.NodeCPUs, "CPUs", func(n *Node) int64 { return n.CPUs })
}

func (s *selection) checkNodeMemory() *Rule {
	return s.checkEach(&s.needs.NodeMemory, "MiB of memory", func(n *Node) int64 { return n.Memory })
}

// checkNodeTmp checks the temporary disk. It narrows the choice of nodes: no history tells which
// jobs needed one.
func (s *selection) checkNodeTmp() *Rule {
	each := &s.needs.NodeTmp
	if each.Amount <= 0 {
		return nil
	}
	return s.narrow(each.Option, fmt.Sprintf("have %d MiB of temporary disk", each.Amount), func(n *Node) bool { return n.Tmp >= each.Amount })
}

func (s *selection) checkEach(each *workload.NodeNeed, what string, on func(*Node) int64) *Rule {
	if each.Amount <= 0 {
		return nil
	}
	return s.keep(each.Option, fmt.Sprintf("have %d %s", each.Amount, what), func(n *Node) bool { return on(n) >= each.Amount })
}

func (s *selection) checkGres() *Rule {
	for i := range s.needs.Gres {
		g := &s.needs.Gres[i]
		kind, each := g.Name, int64(1)
		if g.PerNode {
			each = g.Count
		}
		have := func(kind string) (string, func(*Node) bool) {
			return fmt.Sprintf("have %d %s", each, kind), func(n *Node) bool { return n.Gres[kind] >= each }
		}
		words, fit := have(kind)
		if rule := s.keep(g.Option, words, fit); rule != nil {
			return rule
		}
		if g.Type != "" {
			kind += ":" + g.Type
			words, fit = have(kind)
			if rule := s.narrow(g.Option, words, fit); rule != nil {
				return rule
			}
		}
		if g.Name != "gpu" {
			return need("%s: of generic resources, waits are forecast only for GPUs%s", g.Option, advice)
		}
		if total := most(s.amounts(func(n *Node) int64 { return n.Gres[kind] }), s.mostNodes()); !g.PerNode && g.Count > total {
			return need("%s: the nodes of partition %s that the job may have, have %d %s", g.Option, s.Partition, total, kind)
		}
	}
	return nil
}

// checkTotals checks that as many nodes as the job may have, have all that it needs.
func (s *selection) checkTotals() *Rule {
	for _, total := range []struct {
		what, option string
		of           int64
		on           func(*Node) int64
	}{
		{"CPUs", "--ntasks", int64(s.CPUs), func(n *Node) int64 { return n.CPUs }},
		{"MiB of memory", cmp.Or(s.needs.NodeMemory.Option, "--mem"), s.Memory, func(n *Node) int64 { return n.Memory }},
	} {
		if have := most(s.amounts(total.on), s.mostNodes()); total.of > have {
			return need("%s: the job needs %d %s, and the nodes of partition %s that it may have, have %d", total.option, total.of, total.what, s.Partition, have)
		}
	}
	return nil
}

func (s *selection) amounts(of func(*Node) int64) []int64 {
	amounts := make([]int64, len(s.nodes))
	for i := range s.nodes {
		amounts[i] = of(&s.nodes[i])
	}
	return amounts
}

// mostNodes returns the number of nodes that the job may have at most.
func (s *selection) mostNodes() int {
	if s.needs.MostNodes > 0 {
		return int(s.needs.MostNodes)
	}
	return len(s.nodes)
}

// most returns the sum of the n largest amounts.
func most(amounts []int64, n int) int64 {
	slices.Sort(amounts)
	slices.Reverse(amounts)
	var sum int64
	for _, a := range amounts[:min(n, len(amounts))] {
		sum += a
	}
	return sum
}
