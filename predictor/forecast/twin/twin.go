package twin

import (
	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/workload"
)

// Twin simulates a queue that others keep. Submitted, Started and Ended are called in
// the order of time, after the queue has changed. A Twin serves one caller at a time.
type Twin struct {
	queue    *queue.Queue
	runtimes walltime.Predictor
	machines partitions
	jobs     map[int64]*job
	numbers  map[string]int32 // of users, accounts and queues
	classes  map[[2]string]*class
	longest  int64 // run time ever seen, seconds

	// Scratch of one question.
	snapshot Snapshot
	machine  rollout.Machine
}

// job is what is known of a job of the queue.
type job struct {
	sched.Job
	in      *partition
	class   *class
	runtime walltime.Distribution // as predicted
	age     int64                 // of the job then, in seconds; or stale
	runs    bool
	trial   trial
}

// stale is the age of a job that has started since its run time was predicted. The next
// snapshot predicts it anew, so that a start takes little time.
const stale = -1

// New returns the twin of a queue.
func New(q *queue.Queue, m Machines) *Twin {
	return &Twin{
		queue: q, machines: partitions{configured: m},
		jobs: make(map[int64]*job), numbers: make(map[string]int32), classes: make(map[[2]string]*class), longest: 3600,
	}
}

// Submitted takes in that j waits from now on.
func (t *Twin) Submitted(j *workload.Job) {
	k := t.add(j)
	k.trial = t.try(j)
	t.runtimes.Submitted(&k.Job)
}

// Started takes in that j runs since j.Start.
func (t *Twin) Started(j *workload.Job) {
	k, ok := t.jobs[j.ID]
	if !ok {
		k = t.add(j)
	}
	t.run(k, j.Start)
	t.compete(k)
	t.runtimes.Started(&k.Job)
	k.age = stale
	if k.trial != nil {
		t.machines.machine(k.in).learn(k.trial, float64(j.Start-k.Submit))
		k.trial = nil
	}
}

// Ended takes in that j ended at j.End, or was cancelled if it has no start.
func (t *Twin) Ended(j *workload.Job) {
	k, ok := t.jobs[j.ID]
	if !ok {
		return
	}
	if !k.runs {
		t.forget(k)
		return
	}
	k.End = max(j.End, k.Start)
	t.longest = max(t.longest, k.End-k.Start)
	t.machines.take(k.End, k.in, -k.Procs)
	t.runtimes.Learn(&k.Job)
	delete(t.jobs, j.ID)
}

// forget lets go of a job without learning from it.
func (t *Twin) forget(k *job) {
	if k.runs {
		t.machines.take(k.Start, k.in, -k.Procs)
	}
	t.runtimes.Forget(k.ID)
	delete(t.jobs, k.ID)
}

// compete learns which class a job passes by its start: that of the first job of another
// class that is older and waits for the same machine. It looks at the head of the queue
// only.
func (t *Twin) compete(k *job) {
	m, left := t.machines.machine(k.in), 32
	for j := range t.queue.Pending() {
		other := t.job(j)
		if left--; left < 0 || other.Submit >= k.Submit {
			return
		}
		if other.class != k.class && t.machines.machine(other.in) == m {
			other.class.overtaken(k.class)
			return
		}
	}
}

// run notes that a job runs since a time.
func (t *Twin) run(k *job, since int64) {
	if !k.runs {
		t.machines.take(since, k.in, k.Procs)
	}
	k.Start, k.runs = since, true
}

// mostAbsent is how many jobs may be known that are not in the queue: their ends were
// missed.
const mostAbsent = 4096

// add makes a job known.
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
	k := &job{in: t.machines.of(j.Partition), class: t.classOf(&j.Request)}
	k.Job = sched.Job{
		ID: j.ID, Submit: j.Since(), Start: j.Start, Limit: t.limit(&j.Request), Procs: j.Procs(),
		User: t.numberOf("user", j.User), Group: t.numberOf("account", j.Account), App: -1,
		Queue: t.numberOf(j.Partition, j.QOS), Partition: -1,
	}
	t.predict(k, 0)
	t.jobs[j.ID] = k
	return k
}

// classOf returns the class of a request.
func (t *Twin) classOf(r *workload.Request) *class {
	key := [2]string{r.Partition, r.QOS}
	c, ok := t.classes[key]
	if !ok {
		c = new(class)
		t.classes[key] = c
	}
	return c
}

// numberOf numbers the names of a kind; -1 stands for none.
func (t *Twin) numberOf(kind, name string) int32 {
	if name == "" && (kind == "user" || kind == "account") {
		return -1
	}
	name = kind + "/" + name
	number, ok := t.numbers[name]
	if !ok {
		number = int32(len(t.numbers))
		t.numbers[name] = number
	}
	return number
}

// limit returns a request's limit. Without one, a job is planned for as long as the
// longest ran.
func (t *Twin) limit(r *workload.Request) int64 {
	if r.Limit > 0 {
		return r.Limit
	}
	return t.longest
}

// predict predicts how long a job of an age runs in all.
func (t *Twin) predict(k *job, age int64) {
	k.runtime, k.age = t.runtimes.Distribution(&k.Job, age), age
}

// outlived returns the probability, as predicted, that the job would have ended by an
// age. It predicts anew once the job has outlived half of its like: what was predicted
// of a young job says little of the few that get old.
func (t *Twin) outlived(k *job, age int64) float64 {
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
		t.run(k, j.Start)
	}
	return k
}

// Task returns the task of a request submitted at a time. It runs until its limit.
func (t *Twin) Task(r *workload.Request, submit int64) rollout.Task {
	limit := t.limit(r)
	return rollout.Task{Submit: submit, Limit: limit, Run: limit, Procs: r.Procs(), Rank: t.classOf(r).rank()}
}
