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
	maxMemory = 1 << 50 // MiB
)

// work checks what a job asks for, and the sizes that it can have.
func (c *checker) work(job *workload.Request, needs *workload.Needs, sizes []Size) {
	c.name("job.account", job.Account)
	c.name("job.partition", job.Partition)
	c.name("job.qos", job.QOS)
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
	texts := []string{
		n.Constraint, n.Licenses, n.Reservation, n.NodeList.Option, n.Exclude.Option, n.NodeCPUs.Option, n.NodeMemory.Option, n.NodeTmp.Option,
	}
	amounts := []int64{int64(n.MostNodes), n.NodeCPUs.Amount, n.NodeMemory.Amount, n.NodeTmp.Amount}
	for i := range n.Gres {
		texts = append(texts, n.Gres[i].Name, n.Gres[i].Type, n.Gres[i].Option)
		amounts = append(amounts, n.Gres[i].Count)
	}
	for _, s := range n.Scale {
		texts = append(texts, s.Option)
		amounts = append(amounts, s.Count)
	}
	texts = slices.Concat(texts, n.NodeList.Names, n.Exclude.Names)
	is := func(rule func(string) bool) bool { return slices.ContainsFunc(texts, rule) }
	c.wrong(is(func(text string) bool { return len(text) > maxNeed }), "needs", "a text is longer than %d bytes", maxNeed)
	c.wrong(is(func(text string) bool { return !printable(text) }), "needs", "a text has characters that no option has")
	c.wrong(slices.Min(amounts) < 0 || slices.Max(amounts) > maxMemory, "needs", "a number is not between 0 and %d", int64(maxMemory))
	long := len(n.Gres) > maxGres || len(n.Scale) > maxGres || len(n.NodeList.Names) > maxNodes || len(n.Exclude.Names) > maxNodes
	c.wrong(long, "needs", "a list is too long")
}
