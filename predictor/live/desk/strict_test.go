package desk

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

// fourNodes has jobs that wait, and four nodes, one of which is taken until a time.
type fourNodes struct {
	*desktest.Outlook
	until   int64
	waiting []workload.Job
}

func (o fourNodes) Jobs(yield func(*workload.Job) bool) {
	for i := range o.waiting {
		if !yield(&o.waiting[i]) {
			return
		}
	}
}

func (o fourNodes) Room(_ workload.Place, _, _ int64, others []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		taken, room := int32(0), workload.Room{Prob: 1}
		for _, b := range append([]workload.Claim{{Request: workload.Request{Size: workload.Size{Nodes: 1}, Limit: o.until}}}, others...) {
			if end := b.From + b.Limit; b.Start <= c.From && c.From < end {
				taken += b.Nodes
				room.Next = append(room.Next, end)
			}
		}
		if taken+c.Nodes > 4 {
			room.Prob = 0
		}
		return room
	}
}

// TestStrict: if no job passes another, a job has room after those that wait, and not before them.
// Those that are not eligible yet, or have a claim, do not wait, and the order is by priority.
func TestStrict(t *testing.T) {
	const limit = 1000
	s := newSite(t)
	until := int64(desktest.Epoch + 5000)
	job := func(id int64, nodes int32) workload.Job {
		return workload.Job{ID: id, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: nodes}, Limit: limit}}
	}
	first, later, claimed := job(1, 4), job(4, 4), job(5, 4)
	first.Priority, later.Eligible = 1, desktest.Epoch+1
	s.desk.Outlook = fourNodes{s.Outlook, until, []workload.Job{job(2, 1), first, later, claimed}}
	others := []workload.Claim{{Request: claimed.Request, Job: claimed.ID, Start: until + 20*limit, From: until + 20*limit}}
	for _, strict := range []bool{false, true} {
		*s.Premises.Limits() = limits.Cluster{Strict: strict, Partitions: map[string]limits.Partition{"main": {}}}
		for _, c := range []struct {
			job, at int64
			room    bool
		}{{3, desktest.Epoch, false}, {3, until - 1, false}, {3, until, false}, {3, until + limit, true}, {1, until - 1, true}} {
			got := s.desk.room(others, false)(workload.Claim{Request: job(0, 1).Request, Job: c.job, From: c.at}, desktest.Epoch, 0)
			if want := c.room || !strict; (got.Prob == 1) != want {
				t.Errorf("strict %v: job %d at %d s has room with probability %v", strict, c.job, c.at-desktest.Epoch, got.Prob)
			}
		}
	}
}
