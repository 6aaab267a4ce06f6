package resize

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// queue is the whole queue. Comments name rows.
type queue struct{ *look.Look }

// jobOf returns m's job, or nil. Slurm uses ids again, also for jobs of other users, and submits a
// job anew if it requeues it.
func (q queue) jobOf(m *row) *slurm.QueueEntry {
	if j := q.ByID[m.job]; j != nil && j.User == m.user && j.Submit == m.submit {
		return j
	}
	return nil
}

// waits reports whether m's job waits.
func (q queue) waits(m *row) bool {
	j := q.jobOf(m)
	return j != nil && j.Start == 0
}

// names reports whether the comment of a job names m.
func names(j *slurm.QueueEntry, m *row) bool {
	id, ok := api.SizeInComment(j.Comment)
	return ok && id == m.id
}

// asks returns as text what a pending job asks for, besides its size and its time limit.
func asks(j *slurm.QueueEntry) string {
	s := &j.Shape
	text, _ := json.Marshal([]any{ // never fails
		j.Partition, j.Account, j.QOS, j.Features, j.NodeList, j.Excluded, j.Dependency, j.Exclusive,
		max(1, s.CPUsPerTask), s.MemoryPerNode, s.MemoryPerCPU, s.DiskPerNode, s.Licenses, s.Reservation, s.Contiguous, s.Deadline,
	})
	return string(text)
}

// counts returns as text how many tasks and processors Slurm counts of a pending job. They follow
// from its size and its user's options, and from what is changed by hand.
func counts(j *slurm.QueueEntry) string {
	s := &j.Shape
	return fmt.Sprint(s.CPUs, s.Tasks, s.CPUsPerNode)
}

// size returns the size of m's request that has so many nodes, or nil.
func (m *row) size(nodes int32) *api.Size {
	for i := range m.request.Sizes {
		if m.request.Sizes[i].Nodes == nodes {
			return &m.request.Sizes[i]
		}
	}
	return nil
}

// has reports whether a pending job has the size of m's request that has so many nodes.
func (m *row) has(j *slurm.QueueEntry, nodes int32) bool {
	size := m.size(nodes)
	return size != nil && j.Nodes == nodes && slurmtime.Minutes(j.Limit) == slurmtime.Minutes(size.Limit)
}

// update returns the change of m's job j to the size of m's request that has so many nodes. It is
// made with the user's rights, so that Slurm checks it as it would check hers.
func (m *row) update(j *slurm.QueueEntry, nodes int32) slurm.Update {
	size := m.size(nodes)
	return slurm.Update{Job: m.job, Owner: m.user, TimeLimit: size.Limit, Resize: &slurm.Resize{
		Account: j.Account, Nodes: nodes, Tasks: int64(m.request.TasksPerNode) * int64(nodes),
		CPUs: int64(size.CPUs), CPUsPerTask: j.Shape.CPUsPerTask, Fewer: nodes < j.Nodes,
	}}
}

// mayChange reports whether a pending job waits for its nodes, and for nothing that its size does
// not change. Slurm cancels a job whose time limit is made longer than its --deadline allows, and
// counts processors per task anew.
func mayChange(j *slurm.QueueEntry, now int64) bool {
	return j.Shape.Deadline == 0 && j.Shape.CPUsPerTask <= 1 && !j.Held && j.Stopped == "" && j.Dependency == "" && !j.Completing && j.Eligible != 0 && j.Eligible <= now
}

// better returns the index of the option at which a job had better wait from now on. That is held,
// the one at which it waits, unless with another the job is expected to end sooner by more than
// both aversion of its run time and leastGain.
func better(now *moldable.Option, options []moldable.Option, held int, aversion float64) int {
	best := moldable.Rules{Aversion: aversion}.Reconsider(held, options)
	gain := now.Turnaround() - options[best].Turnaround()
	if math.IsInf(now.Wait, 1) || !(gain > max(aversion*now.Run, leastGain)) {
		return held
	}
	return best
}
