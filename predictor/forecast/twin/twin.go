package twin

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/workload"
)

// Options are what a Twin is told beforehand. The zero Options are good.
type Options struct {
	// Machine returns the name of the machine that a partition's jobs run on, which
	// may be that of other partitions too, and its processors. nil, or no name: learnt.
	Machine func(partition string) (name string, procs int32)
	// Policy is how jobs are started on all machines. nil: learnt.
	Policy *Policy
	// Runs is how many simulations there are at most at a moment; 0: 100.
	Runs int
	// Precision is the standard error of a probability that is good enough to stop
	// before; 0: .03.
	Precision float64
	// Expired, if not nil, is asked before each simulation but the first whether
	// time is up.
	Expired func() bool
}

// Twin simulates a queue that others keep. It is told of events after the queue has
// been, in the order of time. Nothing of it may be used at the same time as anything
// else.
type Twin struct {
	options  Options
	queue    *queue.Queue
	runtimes walltime.Predictor
	machines partitions
	came     arrivals
	jobs     map[int64]*job
	numbers  map[string]int32 // of users, accounts and queues
	classes  map[[2]string]*class
	longest  int64 // run time ever seen, seconds

	cluster cluster
	now     snapshot
	look    look
}

// job is what is known of a job of the queue.
type job struct {
	sched.Job
	in     *partition
	class  *class
	told   walltime.Distribution // of its run time
	age    int64                 // at which that was told
	number int64                 // among the arrivals; -1: none
	runs   bool
	tried  guesses
}

// New returns the twin of a queue.
func New(q *queue.Queue, o Options) *Twin {
	if o.Runs == 0 {
		o.Runs = 100
	}
	if o.Precision == 0 {
		o.Precision = .03
	}
	return &Twin{
		options: o, queue: q, machines: partitions{configured: o.Machine},
		jobs: make(map[int64]*job), numbers: make(map[string]int32), classes: make(map[[2]string]*class), longest: hour,
	}
}

// Submitted tells of a job that waits from now on.
func (t *Twin) Submitted(j *workload.Job) {
	k := t.meet(j)
	k.tried = t.try(j)
	t.runtimes.Submitted(&k.Job)
	k.number = t.came.add(arrival{submit: k.Submit, limit: k.Limit, procs: k.Procs, partition: k.in, class: k.class})
}

// Started tells of a job that runs since j.Start.
func (t *Twin) Started(j *workload.Job) {
	k, ok := t.jobs[j.ID]
	if !ok {
		k = t.meet(j)
	}
	t.run(k, j.Start)
	t.compete(k)
	t.runtimes.Started(&k.Job)
	k.age = untold
	if k.tried != nil {
		t.machines.machine(k.in).tell(k.tried, float64(j.Start-k.Submit))
		k.tried = nil
	}
}

// Ended tells of a job that ended at j.End, or was cancelled if it has no start.
func (t *Twin) Ended(j *workload.Job) {
	k, ok := t.jobs[j.ID]
	if !ok {
		return
	}
	if !k.runs {
		t.forget(k)
		if came := t.came.get(k.number); came != nil {
			came.procs = 0
		}
		return
	}
	k.End = max(j.End, k.Start)
	run := k.End - k.Start
	t.longest = max(t.longest, run)
	if came := t.came.get(k.number); came != nil {
		came.run = max(1, min(run, came.limit))
	}
	t.machines.take(k.End, k.in, -k.Procs)
	t.runtimes.Learn(&k.Job)
	delete(t.jobs, j.ID)
}

// forget lets go of a job of which there is nothing to learn.
func (t *Twin) forget(k *job) {
	if k.runs {
		t.machines.take(k.Start, k.in, -k.Procs)
	}
	t.runtimes.Forget(k.ID)
	delete(t.jobs, k.ID)
}

// compete notes whom a job passes that starts: of those who wait for the same machine
// and came before, the first of another class, if it is among the first of all.
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

// forgetful is how many jobs may be known that are not in the queue, as their ends were
// never told.
const forgetful = 4096

// meet makes the acquaintance of a job.
func (t *Twin) meet(j *workload.Job) *job {
	if old, ok := t.jobs[j.ID]; ok {
		t.forget(old)
	}
	if pending, running := t.queue.Len(); len(t.jobs) > pending+running+forgetful {
		for id, old := range t.jobs {
			if t.queue.Job(id) == nil {
				t.forget(old)
			}
		}
	}
	k := &job{in: t.machines.of(j.Partition), class: t.classOf(&j.Request), number: -1}
	k.Job = sched.Job{
		ID: j.ID, Submit: j.Since(), Start: j.Start, Limit: t.limit(&j.Request), Procs: j.Procs(),
		User: t.numberOf("user", j.User), Group: t.numberOf("account", j.Account), App: -1,
		Queue: t.numberOf(j.Partition, j.QOS), Partition: -1,
	}
	t.foretell(k, 0)
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

// limit returns a request's limit; one that asks for none is planned as long as the
// longest job ran.
func (t *Twin) limit(r *workload.Request) int64 {
	if r.Limit > 0 {
		return r.Limit
	}
	return t.longest
}

// untold is the age of a job that has started since it was foretold how long it runs:
// that is done anew when the queue is looked at, as a start has to be taken in quickly.
const untold = -1

// foretell finds out how long a job of an age may run in all.
func (t *Twin) foretell(k *job, age int64) { k.told, k.age = t.runtimes.Distribution(&k.Job, age), age }

// outlived returns the probability with which the job would have ended by an age.
func (t *Twin) outlived(k *job, age int64) float64 {
	if k.age == untold {
		t.foretell(k, 0)
	}
	if age <= k.age {
		return 0
	}
	// What was told of a young job says little of the few that get old.
	const old = .5
	p := k.told.Within(age)
	if p > old {
		t.foretell(k, age)
		return 0
	}
	return p
}

// job returns what is known of a job of the queue.
func (t *Twin) job(j *queue.Job) *job {
	if k, ok := t.jobs[j.ID]; ok {
		return k
	}
	k := t.meet(&j.Job)
	if j.State == workload.Running {
		t.run(k, j.Start)
	}
	return k
}

// believed returns what is believed of a machine, or was told.
func (t *Twin) believed(m *machine) supposition { return t.told(suppositions[m.best]) }

// told returns a supposition with the policy that is configured, if one is.
func (t *Twin) told(s supposition) supposition {
	if t.options.Policy != nil {
		s.Policy = *t.options.Policy
	}
	return s
}

// Look looks at the queue as it is at a moment, and forgets what was seen before:
// after an event the next question wants a new look. The random numbers are for
// simulating what may become of the queue, when asked.
func (t *Twin) Look(now int64, r *rand.Rand) { t.look.begin(now, r) }
