package twin

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// crowd has the Points of all jobs that wait, as of a time. They are made for a pool when the first
// of its jobs is asked about: a rollout in which nobody joins the queue tells when each job of it
// starts.
type crowd struct {
	at int64
	of map[crowdOf]map[int64]member // by the number of a job that is not an array
}

// member is the Point of a job, and the task for which it was made.
type member struct {
	Point
	procs int32
	limit int64
}

// crowdOf says which jobs of a pool are meant: as recorded does.
type crowdOf struct {
	in  *partition
	qos string
}

// Gather tells the Twin that many jobs which wait are asked about by PointAt at a time. With n of n
// jobs in a queue that takes O(n log n) in all, instead of for each. The Points are the same.
func (t *Twin) Gather(now int64) { t.crowd = crowd{at: now} }

// disperse forgets the Points of the jobs that wait, as the queue has changed.
func (c *crowd) disperse() { c.of = nil }

// point returns the Point of a request, as a task, of a job that has waited since the task's
// Submit, if the Twin was told to Gather and the job waits as the request says.
func (c *crowd) point(t *Twin, r *workload.Request, task *rollout.Task, now, id int64) (p Point, ok bool) {
	j := t.queue.Job(id)
	if now != c.at || j == nil || j.State != workload.Pending || j.Count() != 1 || j.Since() != task.Submit || j.Place() != r.Place() || j.QOS != r.QOS {
		return p, false
	}
	of := crowdOf{in: t.partitions.at(r.Place())}
	if j.QOSFull {
		of.qos = r.QOS
	}
	members, known := c.of[of]
	if !known {
		if c.of == nil {
			c.of = map[crowdOf]map[int64]member{}
		}
		members = t.snapshot.members(t, r, of.qos, now)
		c.of[of] = members
	}
	m, ok := members[id]
	return m.Point, ok && m.procs == task.Procs && m.limit == task.Limit
}

// members returns the jobs that wait where a request's job does, beside those of a QOS.
func (s *Snapshot) members(t *Twin, r *workload.Request, qos string, now int64) map[int64]member {
	s.load(t, &workload.Request{Partition: r.Partition, NodeSet: r.NodeSet, QOS: qos}, now)
	s.assume(hypotheses[t.believed(s.pool)], 0)
	expected, limits := s.waits(s.Policy, medians), s.waits(s.Policy, timeLimits)
	var byOrder [rollout.Orders][]int64
	for i := range byOrder {
		if policy := backfilled(rollout.Order(i)); policy == s.Policy {
			byOrder[i] = expected
		} else if t.mayFollow(policy.Order) {
			byOrder[i] = s.waits(policy, medians)
		}
	}
	ahead := s.aheadOfAll()
	s.cautious()
	cautious := s.waits(s.Policy, medians)
	members := make(map[int64]member, len(s.waitingJobs))
	for i := range s.waitingJobs {
		w := &s.waitingJobs[i]
		if w.procs > s.Procs || w.in != s.in { // alone, it would be in a larger pool, or whole
			continue
		}
		p := Point{Expected: expected[i], Limits: limits[i], Cautious: cautious[i], Policy: s.Policy, Ahead: ahead[i]}
		p.ByOrder = t.byOrder(func(policy rollout.Policy) int64 { return byOrder[policy.Order][i] })
		members[w.ID] = member{p, w.procs, w.Limit}
	}
	return members
}

// waits makes a rollout of all jobs, and returns how long each of Pending waits.
func (s *Snapshot) waits(p rollout.Policy, by runTimes) []int64 {
	places := make([]int, len(s.Pending))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return p.Compare(s.Pending[a], s.Pending[b]) })
	s.tasks = s.tasks[:0]
	for _, i := range places {
		s.tasks = append(s.tasks, s.Pending[i])
	}
	waits := make([]int64, len(places))
	for place, start := range s.begin(p, s.tasks, nil, by, nil).Starts() {
		waits[places[place]] = start - s.Now
	}
	return waits
}

// aheadOfAll returns Point.Ahead of all of Pending.
func (s *Snapshot) aheadOfAll() []int64 {
	places := make([]int, len(s.Pending))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(s.Pending[b].Priority, s.Pending[a].Priority) })
	ahead, running, work := make([]int64, len(places)), s.running(), int64(0)
	for first := 0; first < len(places); {
		last := first
		for ; last < len(places) && s.Pending[places[last]].Priority == s.Pending[places[first]].Priority; last++ {
			work += area(&s.Pending[places[last]])
		}
		for ; first < last; first++ {
			if t := &s.Pending[places[first]]; t.Priority != 0 {
				ahead[places[first]] = (running + work - area(t)) / int64(max(1, s.Procs))
			}
		}
	}
	return ahead
}

// area returns the processor-seconds for which a task runs.
func area(t *rollout.Task) int64 { return int64(t.Procs) * t.Run }
