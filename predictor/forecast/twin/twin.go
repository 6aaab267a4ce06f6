package twin

import (
	"cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/workload"
)

// Twin simulates the live queue, which its caller keeps. Submitted, Started and Ended are
// called in the order of time, each after the queue has changed. A Twin serves one caller
// at a time.
type Twin struct {
	queue      *queue.Queue
	runtimes   walltime.Predictor
	partitions partitions
	jobs       map[int64]*job
	numbers    numbers
	classes    map[[2]string]*class // by queue and QOS
	longest    int64                // longest run time ever seen, seconds
	added      int                  // how many jobs have become known
	priorities priorities
	crowd      crowd

	// Scratch of one question.
	snapshot Snapshot
	rollout  rollout.Machine
}

// job is what is known of a job of the queue.
type job struct {
	sched.Job
	in      *partition
	class   *class
	runtime walltime.Distribution // as predicted
	age     int64                 // of the job when runtime was predicted, in seconds; or stale
	basis   walltime.Basis        // of runtime, while the job waits
	runs    bool
	size    workload.Size
	takes   int32    // processors that it has or, before it runs, will have at least
	on      []string // its nodes, if it runs and they are known
	number  int      // how many jobs were known before, and it
	trial   trial
}

// stale marks a prediction that is still to be made, or to be made again because the job has
// started since. endedBy makes it when it is needed, to keep Started fast.
const stale = -1

// New returns the twin of a queue. The pools may be nil.
func New(q *queue.Queue, pools Pools) *Twin {
	return &Twin{
		queue: q, partitions: partitions{pools: pools},
		jobs: make(map[int64]*job), numbers: numbers{}, classes: make(map[[2]string]*class), longest: 3600,
	}
}

// Queue returns the queue of which t is the twin.
func (t *Twin) Queue() *queue.Queue { return t.queue }

// Resize takes in the pools as they are now, and what jobs that wait take of them. A Twin that has
// learnt its pools goes on learning them. For n such jobs it takes O(n).
func (t *Twin) Resize(pools Pools) {
	t.crowd.disperse()
	used := make(map[*partition]bool)
	for _, k := range t.jobs {
		used[k.in] = true
	}
	t.partitions.resize(pools, used)
	for j := range t.queue.Pending() {
		if k, ok := t.jobs[j.ID]; ok && !t.matches(k, &j.Job) {
			t.Changed(&j.Job)
		}
	}
}

// Windows returns when Slurm's own reservations have nodes of a place, and what they leave. They
// may be over. None are known of a pool that is not configured.
func (t *Twin) Windows(place workload.Place) rollout.Windows {
	if t.partitions.pools == nil {
		return nil
	}
	return t.partitions.stage(t.partitions.at(place)).reserved()
}

// Age takes in how Slurm's priorities grow.
func (t *Twin) Age(a workload.Aging) {
	t.crowd.disperse()
	t.priorities.aging = a
}

// Submitted notes that j waits from now on.
func (t *Twin) Submitted(j *workload.Job) {
	t.crowd.disperse()
	t.priorities.submitted(j)
	k := t.add(j)
	t.came(k, j)
	k.trial = t.try(j)
	t.runtimes.Submitted(&k.Job)
}

// Changed notes that j may have another request, priority, or a limit that keeps it from starting,
// if it waits, and another time limit, other nodes and more processors if it runs.
func (t *Twin) Changed(j *workload.Job) {
	t.crowd.disperse()
	k, ok := t.jobs[j.ID]
	switch {
	case ok && k.runs:
		k.Limit, k.age = t.limit(&j.Request), stale
		t.run(k, j)
		t.partitions.gatherAnew()
		t.partitions.pool(k.in).records = nil
		return
	case ok && !t.matches(k, j):
		k = t.replace(k, j)
		t.runtimes.Submitted(&k.Job)
	}
	t.priorities.changed(j)
	t.withdraw(j)
}

// replace makes j known, which waits, in place of what k was when it was submitted. Records that
// have k are made anew.
func (t *Twin) replace(k *job, j *workload.Job) *job {
	t.partitions.pool(k.in).records = nil
	k = t.add(j)
	t.partitions.pool(k.in).records = nil
	return k
}

// matches reports whether a job that waits is as it is known to be, as far as is known of jobs.
func (t *Twin) matches(k *job, j *workload.Job) bool {
	r := &j.Request
	return (r.Limit == 0 || k.Limit == r.Limit) && k.size == r.Size && k.takes == k.in.takesJob(j) && k.in == t.partitions.at(r.Place()) && k.class == t.classOf(r) && k.User == t.numbers.user(r.User)
}

// Started notes that j has run since j.Start. It learns from j's wait.
func (t *Twin) Started(j *workload.Job) {
	t.crowd.disperse()
	k, ok := t.jobs[j.ID]
	switch {
	case !ok:
		k = t.add(j)
	case k.in.configured != t.partitions.at(j.Place()).configured:
		k = t.replace(k, j)
	}
	k.Limit = cmp.Or(j.Limit, k.Limit) // which may have changed since j was submitted
	t.run(k, j)
	t.moved(k, 1)
	t.countOvertaking(k)
	t.runtimes.Started(&k.Job)
	k.age = stale
	if k.trial != nil {
		t.partitions.pool(k.in).learn(k.trial, float64(j.Start-k.Submit))
		k.trial = nil
	}
}

// Ended notes that j ended at j.End, or that j was cancelled if it has no start. It learns
// from j's run time.
func (t *Twin) Ended(j *workload.Job) {
	t.crowd.disperse()
	k, ok := t.jobs[j.ID]
	if !ok {
		return
	}
	if !k.runs {
		t.moved(k, 0)
		t.forget(k)
		return
	}
	t.moved(k, -1)
	k.End = max(j.End, k.Start)
	t.longest = max(t.longest, k.End-k.Start)
	t.partitions.change(k.End, k.in, -k.takes)
	t.runtimes.Learn(&k.Job)
	delete(t.jobs, j.ID)
}

// forget drops a job without learning from it.
func (t *Twin) forget(k *job) {
	if k.runs {
		t.partitions.change(k.Start, k.in, -k.takes)
	}
	t.runtimes.Forget(k.ID)
	delete(t.jobs, k.ID)
}

// searched is how many jobs at the head of the queue countOvertaking looks at.
const searched = 32

// countOvertaking counts an overtaking if k has started before an older job of another
// class that waits for the same pool. It looks for one such job among the first.
func (t *Twin) countOvertaking(k *job) {
	p, left := t.partitions.pool(k.in), searched
	for j := range t.queue.Pending() {
		other := t.job(j)
		if left--; left < 0 || other.Submit >= k.Submit {
			return
		}
		if other.class != k.class && t.partitions.pool(other.in) == p {
			other.class.overtakenBy(k.class)
			return
		}
	}
}

// run notes that k, which is j, runs since j.Start.
func (t *Twin) run(k *job, j *workload.Job) {
	takes := max(k.takes, j.Given)
	more := takes
	if k.runs {
		more -= k.takes
	}
	if more > 0 {
		t.partitions.change(j.Start, k.in, more)
	}
	k.takes, k.on, k.Start, k.runs = takes, j.On, j.Start, true
}

// mostAbsent is how many jobs a Twin may know that are not in the queue. It did not
// observe their ends.
const mostAbsent = 4096

// add makes a job known as one that waits, even if it runs: run follows then. If the job was known
// before, add forgets that first. If too many jobs are known that are not in the queue, add forgets
// all of these.
func (t *Twin) add(j *workload.Job) *job {
	if old, ok := t.jobs[j.ID]; ok {
		t.forget(old)
	}
	if pending, running := t.queue.Len(); len(t.jobs) > pending+running+mostAbsent {
		for id, old := range t.jobs {
			if t.queue.Job(id) == nil {
				t.forget(old)
			}
		}
	}
	k := t.read(j)
	t.renew(k)
	t.added++
	k.number = t.added
	t.jobs[j.ID] = k
	return k
}

// read returns what is known of a job that has not started, without a prediction of its run time.
func (t *Twin) read(j *workload.Job) *job {
	k := &job{in: t.partitions.at(j.Place()), class: t.classOf(&j.Request), size: j.Size, age: stale}
	k.takes = k.in.takesJob(j)
	k.Job = sched.Job{
		ID: j.ID, Submit: j.Since(), Start: j.Start, Limit: t.limit(&j.Request), Procs: j.Procs(),
		User: t.numbers.user(j.User), Group: t.numbers.account(j.Account), App: -1,
		// Package walltime knows one attribute of this kind: here it is partition and QOS.
		Queue: t.numbers.queue(j.Queue(), j.QOS), Partition: -1,
	}
	return k
}

// classOf returns the class of a request.
func (t *Twin) classOf(r *workload.Request) *class {
	key := [2]string{r.Queue(), r.QOS}
	c, ok := t.classes[key]
	if !ok {
		c = new(class)
		t.classes[key] = c
	}
	return c
}

// limit returns a request's limit in seconds. Without one it returns the longest run time
// seen.
func (t *Twin) limit(r *workload.Request) int64 {
	if r.Limit > 0 {
		return r.Limit
	}
	return t.longest
}

// predict predicts the whole run time of a job of an age, in seconds.
func (t *Twin) predict(k *job, age int64) {
	k.runtime, k.age = t.runtimes.Distribution(&k.Job, age), age
}

// renew predicts the run time of a job that waits again if jobs like it have ended since.
func (t *Twin) renew(k *job) {
	if now := t.runtimes.Basis(&k.Job); now != k.basis || k.age == stale {
		t.predict(k, 0)
		k.basis = now
	}
}

// RunTime returns the distribution of the whole run time of a job with this request.
func (t *Twin) RunTime(r *workload.Request, now int64) walltime.Distribution {
	k := t.read(&workload.Job{Request: *r, Submit: now})
	return t.runtimes.Distribution(&k.Job, 0)
}

// endedBy returns the probability, as predicted, that the job would have ended by an age.
// Above one half it predicts the run time again from the age, and returns 0: a prediction
// for a young job says little of the few that get old.
func (t *Twin) endedBy(k *job, age int64) float64 {
	if k.age == stale {
		t.predict(k, 0)
	}
	if age <= k.age {
		return 0
	}
	p := k.runtime.Within(age)
	if p > .5 {
		t.predict(k, age)
		return 0
	}
	return p
}

// job returns what is known of a job of the queue.
func (t *Twin) job(j *queue.Job) *job {
	if k, ok := t.jobs[j.ID]; ok {
		return k
	}
	k := t.add(&j.Job)
	if j.State == workload.Running {
		t.run(k, &j.Job)
	}
	return k
}

// Task returns the task of a request that is submitted at a time. It runs for its limit, and has
// the priority that is expected of it.
func (t *Twin) Task(r *workload.Request, submit int64) rollout.Task {
	limit, in := t.limit(r), t.partitions.at(r.Place())
	return rollout.Task{
		Submit: submit, Limit: limit, Run: limit, Procs: t.partitions.stage(in).keeps(in.takes(r), &r.Size), Rank: t.rank(t.classOf(r)), Priority: t.priorities.expected(r),
	}
}

// believed returns the index of the hypothesis that is believed of a pool.
func (t *Twin) believed(p *pool) int { return p.believed(t.priorities.known()) }

// Later returns the share of the jobs that came last which would go before a job with a request, or
// 0 where no priorities are known.
func (t *Twin) Later(r *workload.Request) float64 {
	return t.priorities.later(t.priorities.expected(r))
}

// Lets returns the share of the jobs that came last which a job with a request lets go before it
// because its user lowers its priority: 0 if she does not, and 1 where no priorities are known.
func (t *Twin) Lets(r *workload.Request) float64 {
	switch {
	case r.Nice <= 0:
		return 0
	case !t.priorities.known():
		return 1
	}
	usual := *r
	usual.Nice = 0
	return t.Later(r) - t.Later(&usual)
}

// taskNow returns the task of a request that is submitted now. If a job of that id waits already,
// it has its own priority.
func (t *Twin) taskNow(r *workload.Request, now, id int64) rollout.Task {
	task := t.Task(r, now)
	if j := t.queue.Job(id); j != nil && j.State == workload.Pending && j.Priority != 0 {
		task.Priority = t.priorities.of(&j.Job, now)
	}
	return task
}
