package desk

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// mostPlain is the greatest number of plain jobs with a later begin time that the desk takes into
// account: those that become eligible first. It bounds the cost of a plan, whoever fills the queue.
const mostPlain = 1000

// plainClaims returns the claims of the plain jobs that become eligible later, or whose nodes are
// not up yet. The caller must not change it.
func (d *occupancy) plainClaims() []workload.Claim {
	if plain := d.plain.Load(); plain != nil {
		return *plain
	}
	return nil
}

// waitsForBegin reports whether a job becomes eligible after now, and then starts if there is room.
// It is false for a job of a reservation of Slurm's with other nodes than those inside, and for one
// of a reservation that is gone.
func waitsForBegin(j *slurm.QueueEntry, now int64) bool {
	return j.Start == 0 && j.Eligible > now && !j.Held && j.Stopped == "" &&
		j.Dependency == "" && j.Shape.Reservation == j.Reservation && !slurm.BeyondLimit(j.Reason)
}

// ObservePlain notes the claims of the plain jobs of the whole queue that become eligible after
// now, or whose nodes are being powered up. These jobs claim nothing:
//   - jobs that are held or depend on other jobs, because nobody knows when they become eligible
//   - jobs of open promises, which promised has by number, because they have claims of their own
//   - jobs that limits on users, accounts and QOS do not let start beside the others
func (d *occupancy) ObservePlain(queue iter.Seq[*slurm.QueueEntry], promised map[int64]bool, now int64) {
	cluster := d.Premises.Limits()
	if cluster == nil {
		return
	}
	var jobs []*slurm.QueueEntry
	for j := range queue {
		if (j.Waking || waitsForBegin(j, now)) && !promised[j.ID] {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *slurm.QueueEntry) int {
		return cmp.Or(cmp.Compare(a.Eligible, b.Eligible), cmp.Compare(a.ID, b.ID))
	})
	jobs = jobs[:min(mostPlain, len(jobs))]
	takes := cluster.Takes()
	claims := make([]workload.Claim, 0, len(jobs))
	started := make([]*workload.Job, 0, len(jobs))
	for _, j := range jobs {
		r := j.Request
		r.Partition, _, _ = strings.Cut(r.Partition, ",")
		needs := workload.Needs{Exclusive: j.Exclusive, MostNodes: max(1, r.Nodes)}
		if needs.MostNodes == 1 && j.Shape.Tasks > 1 {
			needs.MostNodes++ // its tasks may be on several nodes
		}
		job, err := cluster.CompleteWith(r, &needs)
		// it does not start, because its partition is down or smaller
		if err != nil || cluster.Job(job, &needs).CheckSize() != nil {
			continue
		}
		n := atOnce(cluster, job, j, started)
		if n == 0 {
			continue
		}
		start := max(j.Eligible, now)
		started = append(started, &workload.Job{Request: job, Start: start, Tasks: n})
		claim := workload.Claim{Request: job, Job: j.ID, Plain: !j.Waking, Start: start, From: start}
		all := cluster.Job(job, &needs)
		all.CPUs, all.Memory = takes.CPUs(job), takes.Memory(job)
		if job.Licences != "" { // they follow one another
			n = max(1, all.MostTogether(n))
			claim.Limit *= int64(rounds(int32(j.Count()), n))
		}
		claim.Size, claim.Pieces = all.Together(n), all.Pieces().Times(n)
		claims = append(claims, claim)
	}
	d.plain.Store(&claims)
}

// atOnce returns how many tasks of a job may run, once it is eligible, beside jobs that have
// started.
func atOnce(c *limits.Cluster, job workload.Request, j *slurm.QueueEntry, started []*workload.Job) int32 {
	view := c.Job(job, nil)
	return int32(sort.Search(int(tasks(j)), func(n int) bool {
		others := slices.Values(slices.Concat(started, slices.Repeat([]*workload.Job{{Request: job, Start: j.Eligible, Tasks: int32(n)}}, min(n, 1))))
		return view.CheckShares(0, j.Eligible, others) != nil
	}))
}

// tasks returns how many tasks of a pending job may start at once: 1 if it is not an array.
func tasks(j *slurm.QueueEntry) int32 {
	if j.AtOnce > 0 {
		return min(max(1, j.Tasks), j.AtOnce)
	}
	return max(1, j.Tasks)
}
