package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// advice ends the sentence of a rule about what cannot be forecast.
const advice = ": leave it out, or submit the job without a promise"

// CheckNeeds returns the rule by which Slurm would refuse the job at its submission, or by which
// nothing can be forecast for it; nil if there is none. Waits are forecast for jobs that may run on
// any of some nodes. So what must be free besides nodes is a rule, too.
func (j *Job) CheckNeeds() *Rule {
	if rule := j.cluster.checkAccess(&j.Request); rule != nil {
		return rule
	}
	if j.partition.Segments {
		return need("--partition=%s: jobs have parts of the network alone there, and when one is free cannot be forecast: "+
			"take another partition, or submit the job without a promise", j.Partition)
	}
	if j.Nice != 0 && j.cluster.Basic {
		return need("--nice=%d: jobs start in the order of their submission here (PriorityType=priority/basic), and how long a job waits that lets others pass cannot be forecast%s", j.Nice, advice)
	}
	if !j.needy {
		return nil
	}
	if rule := j.cluster.checkReservation(j.needs.Reservation, &j.Request); rule != nil {
		return rule
	}
	if rule := j.checkLicences(); rule != nil {
		return rule
	}
	if rule := j.checkMaxMemory(); rule != nil {
		return rule
	}
	if j.cluster.Nodes == nil {
		return nil
	}
	nodes, rule := j.selected()
	if rule == nil && j.Request.NodeSet == "" && !j.anywhere(nodes) && len(listed(nodes)) > mostListed {
		return need("the nodes that the job may have are too scattered for a forecast: their list is longer than %d bytes%s", mostListed, advice)
	}
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
	s := selection{Job: j, nodes: j.known()}
	rule := s.keepFitting()
	if rule == nil {
		rule = s.checkTotals()
	}
	if rule != nil {
		return nil, rule
	}
	return s.nodes, nil
}

// keepFitting keeps the nodes that satisfy the needs by themselves, or returns the first rule by
// which these cannot be satisfied.
func (s *selection) keepFitting() *Rule {
	for _, check := range []func() *Rule{s.checkExclude, s.checkNodeList, s.checkConstraint, s.checkNodeCPUs, s.checkNodeMemory, s.checkMemoryCPUs, s.checkNodeTmp, s.checkGres} {
		if rule := check(); rule != nil {
			return rule
		}
	}
	return nil
}

// known returns the known nodes that the job may have, whatever its needs.
func (j *Job) known() (nodes []Node) {
	for _, name := range j.partition.Nodes {
		if node, ok := j.cluster.Nodes[name]; ok {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// checkReservation returns the rule by which no job of a request may run in a reservation of that
// name, or its start there cannot be forecast; nil if there is none, or the name is empty.
func (c *Cluster) checkReservation(name string, r *workload.Request) *Rule {
	if name == "" {
		return nil
	}
	option := "--reservation=" + name
	if strings.Contains(name, ",") {
		return need("%s: varq looks at one reservation: name it", option)
	}
	switch v := c.Reservations.Named(name); {
	case v == nil:
		return need("%s: Slurm has no reservation %s; one made in the last minutes may not be known yet", option, name)
	case !v.admits(r):
		return need("%s: reservation %s admits neither user %s nor account %s", option, name, r.User, r.Account)
	case v.Flex: // the job is forecast as one without the reservation, with which it may start sooner
	case v.Floats:
		return need("%s: reservation %s is always ahead (TIME_FLOAT), and no job ever runs inside of it: leave it out", option, name)
	case v.Cores != nil:
		return need("%s: reservation %s has some cores of its nodes, and when these are free cannot be forecast: submit the job without a promise", option, name)
	}
	return nil
}

func need(format string, args ...any) *Rule {
	return &Rule{Name: "needs", Says: fmt.Sprintf(format, args...)}
}

// selection is the nodes of the job's partition that satisfy the needs checked so far.
type selection struct {
	*Job
	nodes []Node
}

// keep leaves only the nodes that are fit. It returns a rule if they are too few.
func (s *selection) keep(option, have string, fit func(*Node) bool) *Rule {
	all := len(s.partition.Nodes)
	s.nodes = slices.DeleteFunc(s.nodes, func(n Node) bool { return !fit(&n) })
	if len(s.nodes) >= int(s.Nodes) {
		return nil
	}
	return need("%s: %d of the %s of %s %s, and the job needs %d", option, len(s.nodes), count(all, "node"), s.cluster.Where(&s.Request), have, s.Nodes)
}

func (s *selection) checkExclude() *Rule {
	named := &s.needs.Exclude
	if len(named.Names) == 0 {
		return nil
	}
	if rule := s.exist(named); rule != nil {
		return rule
	}
	out := setOf(named.Names)
	return s.keep(named.Option, "remain", func(n *Node) bool { return !out[n.Name] })
}

func (s *selection) checkNodeList() *Rule {
	named := &s.needs.NodeList
	if len(named.Names) == 0 {
		return nil
	}
	if rule := s.exist(named); rule != nil {
		return rule
	}
	has := setOf(namesOf(s.nodes))
	for _, name := range named.Names {
		if !has[name] {
			return need("%s: node %s is not in %s, or is excluded", named.Option, name, s.cluster.Where(&s.Request))
		}
	}
	if len(named.Names) < int(s.Nodes) {
		return need("%s: Slurm adds other nodes to these, and how long certain nodes and others are busy cannot be forecast: name %s, or leave it out", named.Option, count(int(s.Nodes), "node"))
	}
	in := setOf(named.Names)
	return s.keep(named.Option, "are named", func(n *Node) bool { return in[n.Name] })
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
	if s.Nodes == 1 {
		c.counted = false // a node is like itself
	}
	if c.counted && slices.ContainsFunc(s.nodes, func(n Node) bool { return !c.fits(&n) }) {
		return need("%s: when nodes that are alike are free cannot be forecast, only when any nodes of some are%s", option, advice)
	}
	return s.keep(option, "have these features", c.fits)
}

func (s *selection) checkNodeCPUs() *Rule {
	each, perCore := &s.needs.NodeCPUs, s.needs.PerCore
	if perCore == 0 || each.Amount <= 0 {
		return s.checkEach(each, "CPUs", func(n *Node) int64 { return n.CPUs })
	}
	have := fmt.Sprintf("have %d CPUs", each.Amount)
	if slices.ContainsFunc(s.nodes, func(n Node) bool { return n.Threads != s.nodes[0].Threads }) {
		have = fmt.Sprintf("have cores for %d CPUs, with %d of each core", s.nodeUses, perCore)
	}
	return s.keep(each.Option, have, func(n *Node) bool { return n.room(perCore) >= s.nodeUses })
}

func (s *selection) checkNodeMemory() *Rule {
	return s.checkEach(&s.needs.NodeMemory, "MiB of memory", func(n *Node) int64 { return n.Memory })
}

func (s *selection) checkNodeTmp() *Rule {
	return s.checkEach(&s.needs.NodeTmp, "MiB of temporary disk", func(n *Node) int64 { return n.Tmp })
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
		if g.Type != "" {
			kind += ":" + g.Type
		}
		if rule := s.keep(g.Option, fmt.Sprintf("have %d %s", each, kind), func(n *Node) bool { return n.Gres[kind] >= each }); rule != nil {
			return rule
		}
		if g.Name != "gpu" {
			if rule := s.checkPlenty(g, kind); rule != nil {
				return rule
			}
		}
		if total := most(s.amounts(func(n *Node) int64 { return n.Gres[kind] }), s.mostNodes()); !g.PerNode && g.Count > total {
			return need("%s: the nodes of %s that the job may have, have %d %s", g.Option, s.cluster.Where(&s.Request), total, kind)
		}
	}
	return nil
}

// checkPlenty returns a rule if others are likely to have so much of a generic resource, of which
// nobody tells how much is in use, that nodes are not free for the job though they seem so. Where
// each node has twice as much as the job needs there, or so much that CPUs run out first, that is
// taken to be rare. Where only some nodes of the partition have any, it is learnt how long jobs
// wait for these.
func (s *selection) checkPlenty(g *workload.Gres, kind string) *Rule {
	cpus := max(1, int64(s.CPUs)/int64(max(1, s.Nodes)))
	scarce := func(n Node) bool {
		return !g.PerNode || 2*g.Count > n.Gres[kind] && g.Count*n.CPUs > n.Gres[kind]*cpus
	}
	all, having := s.known(), 0
	for i := range all {
		if all[i].Gres[kind] > 0 {
			having++
		}
	}
	if few(having, len(all)) && slices.ContainsFunc(s.nodes, scarce) {
		return need("%s: when others leave so much of it on a node cannot be forecast%s", g.Option, advice)
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
			return need("%s: the job needs %d %s, and the nodes of %s that it may have, have %d", total.option, total.of, total.what, s.cluster.Where(&s.Request), have)
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
