package desk

import (
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

// holders returns the jobs that have nodes of a partition now. It takes O(n) with n nodes of all
// jobs that run.
func (w *waiting) holders(partition string) *api.Holders {
	nodes := map[string]bool{} // of the partition: whether a job has it
	for _, name := range w.Cluster.Partitions[partition].Nodes {
		nodes[name] = false
	}
	held := api.Holders{Of: len(nodes)}
	for _, j := range w.running {
		on := slices.DeleteFunc(slices.Clone(j.On), func(name string) bool { _, in := nodes[name]; return !in })
		if len(on) == 0 {
			continue
		}
		held.Jobs++
		for _, name := range on {
			if !nodes[name] {
				nodes[name] = true
				held.Nodes++
			}
		}
		end := j.Start + j.Limit
		if j.Limit == slurm.UnlimitedTime || j.Suspended || end < w.now || held.Until != 0 && held.Until <= end {
			continue
		}
		if held.Until, held.First = end, 0; j.User == w.user || w.desk.Premises.MaySeeJobs(w.user) {
			held.First = j.ID
		}
	}
	return &held
}
