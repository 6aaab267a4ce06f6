package desk

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

// oneTaken has jobs that wait, and licences of which one is taken until a time.
type oneTaken struct {
	*desktest.Outlook
	until   int64
	waiting []workload.Job
}

func (o oneTaken) Jobs(yield func(*workload.Job) bool) {
	for i := range o.waiting {
		if !yield(&o.waiting[i]) {
			return
		}
	}
}

// Room: the nodes of the set "busy" are taken until the time.
func (o oneTaken) Room(place workload.Place, _, _ int64, _ []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		if place.NodeSet == "busy" && c.From < o.until {
			return workload.Room{Next: []int64{o.until}}
		}
		return workload.Room{Prob: 1}
	}
}

func (o oneTaken) Licences(name string, total int32, _, _ int64, others []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		taken, room := int64(0), workload.Room{Prob: 1}
		if c.From < o.until {
			taken, room.Next = 1, []int64{o.until}
		}
		for _, b := range others {
			if end := b.From + b.Limit; b.Start <= c.From && c.From < end {
				taken += b.Licences.Of(name)
				room.Next = append(room.Next, end)
			}
		}
		if taken+c.Licences.Of(name) > int64(total) {
			room.Prob = 0
		}
		return room
	}
}

// TestLicensed: a job has room once its licences are free beside jobs that have some, claims, and
// jobs that wait for some before it. Arrays wait for those of as many tasks as run at once.
func TestLicensed(t *testing.T) {
	const limit, until = 1000, desktest.Epoch + 5000
	job := func(id int64, licences workload.Licences) workload.Job {
		return workload.Job{ID: id, Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, Licences: licences}, Limit: limit}}
	}
	atLimit, array := job(3, "matlab:4"), job(4, "matlab:1")
	atLimit.AtLimit, array.Tasks, array.AtOnce = true, 9, 2
	busy := job(8, "matlab:3")
	busy.NodeSet = "busy"
	many := make([]workload.Job, mostAhead+1)
	for i := range many {
		many[i] = job(int64(10+i), "matlab:1")
	}
	for name, c := range map[string]struct {
		licences workload.Licences
		waiting  []workload.Job
		claimed  workload.Licences
		from     int64 // until then there is no room, and then there is
	}{
		"none needed":                               {"", many, "ansys:2", 0},
		"some are free":                             {"matlab:3", nil, "", 0},
		"all":                                       {"matlab:4", nil, "", until},
		"as many as are not kept":                   {"ansys:1", nil, "", until},
		"beside a claim":                            {"matlab:3", nil, "matlab:1", desktest.Epoch + limit},
		"beside a claim of other licences":          {"matlab:3", nil, "ansys:1", 0},
		"behind one that waits for all":             {"matlab:1", []workload.Job{job(2, "matlab:4")}, "", until + limit},
		"behind one that waits for others":          {"matlab:3", []workload.Job{job(2, "ansys:1"), job(5, "")}, "", 0},
		"behind an array":                           {"matlab:2", []workload.Job{array}, "", desktest.Epoch + 5*limit},
		"behind one whose nodes are busy":           {"matlab:1", []workload.Job{busy}, "", until},
		"beside a reservation":                      {"idl:1", nil, "", until},
		"beside one that is at a limit, and claims": {"matlab:1", []workload.Job{atLimit}, "matlab:2", 0},
		"behind one at a limit":                     {"matlab:3", []workload.Job{atLimit}, "", 0},
		"behind more jobs than are followed":        {"matlab:1", many, "", -1},
	} {
		s := newSite(t)
		*s.Premises.Limits() = limits.Cluster{
			Partitions:   map[string]limits.Partition{"main": {Nodes: []string{"n1", "n2", "n3"}}},
			Nodes:        map[string]limits.Node{"n1": {Name: "n1", CPUs: 16}},
			Licenses:     map[string]limits.License{"matlab": {Total: 4}, "ansys": {Total: 9, Used: 8, Kept: 8}, "idl": {Total: 2}},
			Reservations: limits.Reservations{{Name: "course", Licenses: "idl:2", Start: desktest.Epoch, End: until}},
		}
		s.desk.Outlook = oneTaken{s.Outlook, until, c.waiting}
		others := []workload.Claim{{Request: job(6, c.claimed).Request, Job: 6, Start: desktest.Epoch, From: desktest.Epoch}}
		room := s.desk.room(others, true)
		if c.from < 0 {
			if got := s.desk.room(others, false)(workload.Claim{Request: job(0, c.licences).Request, Job: 7, From: until + 9*limit}, desktest.Epoch, 0); got.Prob != 1 {
				t.Errorf("%s: there is room with probability %v for what is promised already", name, got.Prob)
			}
		}
		for _, at := range []int64{desktest.Epoch, desktest.Epoch + limit, until - 1, until, until + limit} {
			got := room(workload.Claim{Request: job(0, c.licences).Request, Job: 7, From: at}, desktest.Epoch, 0)
			if want := c.from >= 0 && at >= c.from; (got.Prob == 1) != want {
				t.Errorf("%s: after %d s there is room with probability %v", name, at-desktest.Epoch, got.Prob)
			}
		}
	}
}
