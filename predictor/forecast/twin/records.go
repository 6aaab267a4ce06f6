package twin

import (
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// many is the number of jobs in the queue from which on rollouts are recorded. While there are
	// fewer, they are only for tasks that come later: a plan asks about hundreds of these.
	many = 1024
	// Records serve until one in refreshed jobs of the pool has come, started or gone, or so many
	// more or fewer of its processors are free than they say, and for mostKept seconds at most.
	refreshed = 64
	mostKept  = 600
)

// records are rollouts of a pool that were made a little while ago, while there are many jobs. One
// job in refreshed makes hardly any difference to the others, and to simulate all of them for each
// question would take too long.
type records struct {
	at        int64 // of the snapshot that they are of
	jobs      int   // in it
	changes   int   // jobs that have come, started or gone since
	best      int   // the hypothesis that was believed
	used      int32 // processors that jobs use now
	stage     stage
	newest    int                    // the number of the newest job that was known then
	without   int64                  // the job that was left out, or 0
	newcomers map[int64]rollout.Task // the jobs that wait, and have come since or were left out
	full      []string               // the QOS whose jobs were left out, as they were full
	running   int64                  // processor-seconds until the running jobs end
	expected  record
	cautious  record
	limits    record
	// of those that the pool may follow, but that of the policy that is believed
	byOrder [rollout.Orders]record
}

// recorded says which records of a pool are meant: those of a partition that has some of its nodes
// only, or nil, and of a QOS.
type recorded struct {
	partly *partition
	qos    string
}

// came notes that a job waits from now on.
func (t *Twin) came(k *job, j *workload.Job) {
	for of, kept := range t.partitions.pool(k.in).records {
		kept.changes++
		t.addNewcomer(kept, k, j, of.qos)
	}
}

// addNewcomer adds a job to the newcomers of a QOS's records, if it may be ahead of that QOS.
func (t *Twin) addNewcomer(kept *records, k *job, j *workload.Job, qos string) {
	if !j.Precedes(qos) {
		return
	}
	task := t.taskNow(&j.Request, k.Submit, k.ID)
	task.Procs = int32(min(int64(j.Count())*int64(kept.stage.part(k, nil)), int64(kept.expected.procs)))
	kept.newcomers[k.ID] = task
}

// withdraw notes that a job which waits may be ahead of no others, or only of those of its QOS,
// from now on.
func (t *Twin) withdraw(j *workload.Job) {
	for of, kept := range t.partitions.pool(t.partitions.at(j.Place())).records {
		if !j.Precedes(of.qos) {
			delete(kept.newcomers, j.ID)
		}
	}
}

// moved notes that a job has started (1), or gone without a start (0) or after one (-1).
func (t *Twin) moved(k *job, more int32) {
	for _, kept := range t.partitions.pool(k.in).records {
		kept.changes++
		kept.used += more * kept.stage.part(k, k.on)
		delete(kept.newcomers, k.ID)
	}
}

// free returns how many processors are free now.
func (r *records) free() int32 { return r.expected.procs - r.used }

// old reports whether the records are to be made anew.
func (r *records) old(best int, now int64) bool {
	if r.jobs == 0 || r.changes > r.jobs/refreshed || r.best != best || now < r.at || now > r.at+mostKept {
		return true
	}
	more, most := r.expected.more(now, r.free()), r.expected.procs/refreshed
	return more > most || more < -most
}

// records returns those from which the wait of a task follows, that of a request that joins the
// queue now, or nil if there are none. The task is not in them: id names it if it waits already,
// and otherwise is 0.
//
// A job whose QOS is full is ahead only of jobs of the same QOS. So each QOS that is full has
// records of its own, and the others share those without a name.
func (t *Twin) records(r *workload.Request, task *rollout.Task, now, id int64) *records {
	if pending, running := t.queue.Len(); pending+running < many && task.Submit <= now {
		return nil
	}
	kept := t.recorded(r, "", now, id)
	if slices.Contains(kept.full, r.QOS) {
		kept = t.recorded(r, r.QOS, now, id)
	}
	if k, ok := t.jobs[id]; ok && !k.runs && k.number <= kept.newest && id != kept.without {
		return nil // it is among the others
	}
	if task.Procs > kept.expected.procs {
		return nil // a rollout is needed of a larger pool
	}
	return kept
}

// recorded returns the records of where a request's job waits and of a QOS, made anew if they are
// old: without the job that id names, and without jobs of other QOS that are full.
func (t *Twin) recorded(r *workload.Request, qos string, now, id int64) *records {
	on, of := t.partitions.stage(t.partitions.at(r.Place())), recorded{qos: qos}
	if on.partly {
		of.partly = on.in
	}
	kept := on.records[of]
	if kept == nil {
		if on.records == nil {
			on.records = make(map[recorded]*records)
		}
		kept = &records{stage: on}
		on.records[of] = kept
	}
	if best := t.believed(on.pool); kept.old(best, now) {
		s := &t.snapshot
		s.load(t, &workload.Request{Partition: r.Partition, NodeSet: r.NodeSet, QOS: qos}, now)
		s.without(id)
		s.assume(hypotheses[best], 0)
		kept.make(s)
		kept.best, kept.newest, kept.without = best, t.added, id
		kept.newcomers = map[int64]rollout.Task{}
		if j := t.queue.Job(id); j != nil && j.State == workload.Pending {
			t.addNewcomer(kept, t.job(j), &j.Job, qos)
		}
		kept.full = append(kept.full[:0], s.full...)
	}
	return kept
}

// make makes the records of a snapshot.
func (r *records) make(s *Snapshot) {
	r.at, r.jobs, r.changes, r.used = s.Now, len(s.Running)+len(s.Pending), 0, s.used
	r.running = s.running()
	r.expected.make(s, s.Policy, medians)
	r.limits.make(s, s.Policy, timeLimits)
	for i := range r.byOrder {
		if policy := backfilled(rollout.Order(i)); policy != s.Policy && s.twin.mayFollow(policy.Order) {
			r.byOrder[i].make(s, policy, medians)
		}
	}
	s.cautious()
	r.cautious.make(s, s.Policy, medians)
}

// ahead returns Point.Ahead of a task.
func (r *records) ahead(task *rollout.Task) int64 {
	if task.Priority == 0 {
		return 0
	}
	by := &r.expected
	if by.policy.Order != rollout.Priority {
		by = &r.byOrder[rollout.Priority]
	}
	return (r.running + by.before(task.Priority)) / int64(max(1, by.procs))
}

// point returns the Point of a task that joins the queue when it is submitted; id names it if it
// waits already.
func (r *records) point(t *Twin, task *rollout.Task, now, id int64) Point {
	free := r.free()
	wait := func(of *record) int64 { return of.wait(task, now, free, r.newcomers, id) }
	p := Point{Expected: wait(&r.expected), Cautious: wait(&r.cautious), Limits: wait(&r.limits), Policy: r.expected.policy, Ahead: r.ahead(task)}
	p.ByOrder = t.byOrder(func(policy rollout.Policy) int64 {
		if policy == p.Policy {
			return p.Expected
		}
		return wait(&r.byOrder[policy.Order])
	})
	return p
}
