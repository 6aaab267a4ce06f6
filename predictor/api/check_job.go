package api

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Bounds of what a job may ask for.
const (
	maxNeed   = 4096 // bytes
	maxGres   = 64
	maxNodes  = 1 << 20
	maxCPUs   = 1 << 28
	maxMemory = 1 << 50   // MiB
	maxNice   = 1<<31 - 3 // as in Slurm
)

// work checks what a job asks for, and the sizes that it can have.
func (c *checker) work(job *workload.Request, needs *workload.Needs, sizes []Size) {
	c.name("job.account", job.Account)
	c.name("job.partition", job.Partition)
	c.name("job.qos", job.QOS)
	c.between("job.nice", job.Nice, 0, maxNice)
	c.size("job.", &job.Size, job.Limit)
	if needs != nil {
		c.needs(needs)
	}
	c.sizes(sizes)
}

func (c *checker) size(in Field, s *workload.Size, limit int64) {
	c.between(in+"nodes", int64(s.Nodes), 0, maxNodes)
	c.between(in+"cpus", int64(s.CPUs), 0, maxCPUs)
	c.between(in+"gpus", int64(s.GPUs), 0, maxCPUs)
	c.between(in+"memory", s.Memory, 0, maxMemory)
	c.text(in+"licences", string(s.Licences))
	c.span(in+"limit", limit, MaxSpan)
}

func (c *checker) sizes(sizes []Size) {
	if len(sizes) > MaxProbeSizes {
		c.wrong(true, "sizes", "%d of them are more than %d", len(sizes), MaxProbeSizes)
		return
	}
	seen := map[int32]bool{}
	for i := range sizes {
		s, field := &sizes[i], Field(fmt.Sprintf("sizes[%d]", i))
		c.size(field+".", &s.Size, s.Limit)
		c.wrong(s.Nodes < 1 || s.Limit < 1, field, "%d nodes for %d s are none", s.Nodes, s.Limit)
		c.wrong(seen[s.Nodes], field, "there are two of %d nodes", s.Nodes)
		seen[s.Nodes] = true
	}
}

// needs bounds the texts and the numbers of a job's needs.
func (c *checker) needs(n *workload.Needs) {
	c.text("needs.constraint", n.Constraint)
	c.text("needs.licenses", n.Licenses)
	c.text("needs.reservation", n.Reservation)
	c.named("needs.node_list", &n.NodeList)
	c.named("needs.exclude", &n.Exclude)
	c.between("needs.most_nodes", int64(n.MostNodes), 0, maxMemory)
	c.between("needs.per_core", int64(n.PerCore), 0, maxMemory)
	for _, of := range []struct {
		field Field
		need  *workload.NodeNeed
	}{{"needs.node_cpus", &n.NodeCPUs}, {"needs.node_memory", &n.NodeMemory}, {"needs.node_tmp", &n.NodeTmp}} {
		c.text(of.field, of.need.Option)
		c.between(of.field, of.need.Amount, 0, maxMemory)
	}
	for i := range n.Gres {
		g := &n.Gres[i]
		c.text("needs.gres", g.Name, g.Type, g.Option)
		c.between("needs.gres", g.Count, 0, maxMemory)
	}
	c.wrong(len(n.Gres) > maxGres, "needs.gres", "%d are more than %d", len(n.Gres), maxGres)
	for _, s := range n.Scale {
		c.text("needs.scale", s.Option)
		c.between("needs.scale", s.Count, 0, maxMemory)
	}
	c.wrong(len(n.Scale) > maxGres, "needs.scale", "%d are more than %d", len(n.Scale), maxGres)
}

// named bounds a list of nodes.
func (c *checker) named(field Field, n *workload.NamedNodes) {
	c.text(field, n.Option)
	c.text(field, n.Names...)
	c.wrong(len(n.Names) > maxNodes, field, "%d nodes are more than %d", len(n.Names), maxNodes)
}

// text bounds texts of a field.
func (c *checker) text(field Field, texts ...string) {
	is := func(rule func(string) bool) bool { return slices.ContainsFunc(texts, rule) }
	c.wrong(is(func(text string) bool { return len(text) > maxNeed }), field, "it is longer than %d bytes", maxNeed)
	c.wrong(is(func(text string) bool { return !printable(text) }), field, "it has characters that no option has")
}
