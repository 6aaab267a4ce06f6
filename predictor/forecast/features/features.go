// Package features turns a question how long a job will wait into numbers. The numbers describe the
// job and the queue at that time: what the job needs, the hour and the day, how long similar jobs
// have waited recently, which jobs wait now and for how long already, and what is free. Package
// forest learns what these numbers mean for the wait.
package features

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// Vector is the features of one question. Table says what each of them is. An unknown value
// is replaced by that of a more general case: a user's mean wait, say, by that of all users.
type Vector [Count]float32

func (v *Vector) set(feature int, value float64) { v[feature] = float32(value) }

// Extractor observes events and makes features of them. Submitted, Started and Ended must
// be called in the order of time, as forecast.Observer says.
type Extractor struct {
	names  numbering
	queue  queue
	levels levels
	starts starts
	usage  usage
	shares shares
	habits habits
}

// New returns an Extractor that knows nothing.
func New() *Extractor {
	return &Extractor{levels: newLevels(), queue: newQueue()}
}

// Snapshot returns a snapshot of e, to Look at later. Later events change nothing in it that
// changes quickly: which jobs wait and run, and which have started recently. The rest, as means
// over a long time, it shares with e. It costs O(s + r + n) with s different requests waiting, r
// jobs running, and n users and kinds of jobs.
func (e *Extractor) Snapshot() *Extractor {
	snapshot := *e
	snapshot.queue = e.queue.snapshot()
	snapshot.levels.fast.by, snapshot.levels.last.by = e.levels.fast.by.snapshot(), e.levels.last.by.snapshot()
	return &snapshot
}

// Submitted takes in that j waits.
func (e *Extractor) Submitted(j *workload.Job) {
	e.queue.submit(e.learn(j))
}

// Changed takes in how many tasks of j, an array, wait.
func (e *Extractor) Changed(j *workload.Job) { e.queue.resize(j.ID, float64(j.Count())) }

// Started takes in that j started at j.Start.
func (e *Extractor) Started(j *workload.Job) {
	t := e.learn(j)
	e.queue.start(t, j.Start)
	if wait, ok := j.Wait(); ok {
		z := logDelay(float64(wait))
		e.levels.learn(&t, z)
		e.starts.learn(&t, j.Start, z)
		e.habits.start(t.user, e.queue.runs(t.user), j.Start, float64(wait))
	}
}

// Ended takes in that j ended at j.End, or was cancelled.
func (e *Extractor) Ended(j *workload.Job) {
	e.queue.remove(j.ID)
	if j.Start == 0 {
		return
	}
	t := e.learn(j)
	run := float64(max(1, j.End-j.Start))
	e.habits.end(t.user, j.End)
	e.shares.learn(t.user, run/float64(t.limit))
	e.usage.charge(&t, j.End, run*float64(t.cpus))
}

// learn makes a task of a job, and gives numbers to names that are new.
func (e *Extractor) learn(j *workload.Job) task {
	t := e.task(&j.Request, j.ID, j.Since(), e.names.learn)
	t.count = float64(j.Count())
	return t
}

// task is what the features need of a job, with names as numbers.
type task struct {
	id                        int64
	count                     float64 // jobs that it stands for
	since                     int64   // eligible from
	limit                     int64
	cpus                      float64
	gpus, memory              float64
	lnCPUs, lnLimit           float64
	expected                  float64 // run time, seconds
	user, account, part, line int32   // line: partition and QOS
	// cell: line, and about the same CPUs and limit; shape: exactly the same
	cell, shape int32
}

func (e *Extractor) task(r *workload.Request, id, since int64, number func(key) int32) task {
	cpus, limit := float64(r.Procs()), max(1, r.Limit)
	t := task{
		id: id, since: since, limit: limit,
		cpus: cpus, gpus: float64(r.GPUs), memory: float64(r.Memory),
		lnCPUs: math.Log(cpus), lnLimit: math.Log(float64(limit)),
		user:    number(key{kind: user, name: r.User}),
		account: number(key{kind: account, name: r.Account}),
		part:    number(key{kind: partition, name: r.Queue()}),
	}
	t.line = number(key{kind: line, a: int64(t.part), name: r.QOS})
	t.cell = number(key{kind: cell, a: int64(t.line), b: int64(math.Round(t.lnCPUs / math.Ln2)), c: int64(1.5 * t.lnLimit)})
	t.shape = number(key{kind: shape, a: int64(t.line), b: int64(cpus), c: limit})
	t.expected = float64(limit) * e.shares.of(t.user)
	return t
}

// numbering gives each key a number of its own.
type numbering struct {
	of   newest[key, int32]
	next int32
}

type key struct {
	kind    kind
	name    string
	a, b, c int64
}

type kind uint8

const (
	user kind = iota
	account
	partition
	line
	cell
	shape
)

// learn returns the number of k, a new one if it has none.
func (n *numbering) learn(k key) int32 {
	i, ok := n.of.get(k)
	if !ok {
		i = n.next
		n.next++
	}
	n.of.set(k, i)
	return i
}

// unknown is the number returned for keys without one.
const unknown = -2

// find returns the number of k, or unknown.
func (n *numbering) find(k key) int32 {
	if i, ok := n.of.get(k); ok {
		return i
	}
	return unknown
}

// Look sets v to the features of this question, asked at time now: how long will r wait if it
// becomes eligible at submit? Both times are in Unix seconds. If r's job waits already, id names
// it; otherwise id is 0. The cost is O(s + r) with s different requests waiting and r jobs running.
func (e *Extractor) Look(r *workload.Request, id, now, submit int64, v *Vector) {
	t := e.task(r, id, submit, e.names.find)
	e.setLasting(v, &t, now)
	e.setPresent(v, &t, now)
}

// setLasting sets the features that change slowly or not at all: what the job asks for, when
// it becomes eligible, and how long similar jobs wait in the long run.
func (e *Extractor) setLasting(v *Vector, t *task, now int64) {
	const hour, day, week = 3600, 86400, 7 * 86400
	v.set(jobCPUs, t.lnCPUs)
	v.set(jobLimit, t.lnLimit)
	v.set(jobWork, t.lnCPUs+t.lnLimit)
	v.set(jobGPUs, math.Log1p(t.gpus))
	v.set(jobMemory, math.Log1p(t.memory/t.cpus))
	v.set(hourOfDay, float64(t.since%day)/hour)
	v.set(hourOfWeek, float64(t.since%week)/hour)
	v.set(hourOfLateWeek, float64((t.since+3*day)%week)/hour)
	l := &e.levels
	all := l.slow.of(everything, atFirst)
	line := l.slow.of(t.line, all)
	v.set(slowAll, all)
	v.set(slowLine, line)
	v.set(slowUser, l.slow.of(t.user, line))
	v.set(slowCell, l.slow.of(t.cell, line))
	v.set(slowAccount, l.slow.of(t.account, line))
	user, account := e.usage.of(t.user, now), e.usage.of(t.account, now)
	v.set(usedUserDay, math.Log1p(user.day))
	v.set(usedUserWeek, math.Log1p(user.week))
	v.set(usedAccountDay, math.Log1p(account.day))
	v.set(usedAccountWeek, math.Log1p(account.week))
	v.set(jobExpected, math.Log(t.expected))
}

// setPresent sets the features of the present state of the queue.
func (e *Extractor) setPresent(v *Vector, t *task, now int64) {
	l := &e.levels
	all := l.fast.of(everything, l.slow.of(everything, atFirst))
	line := l.fast.of(t.line, all)
	user := l.fast.of(t.user, line)
	cell := l.fast.of(t.cell, line)
	v.set(fastAll, all)
	v.set(fastLine, line)
	v.set(fastUser, user)
	v.set(fastCell, cell)
	v.set(lastUser, l.last.of(t.user, user))
	v.set(lastLine, l.last.of(t.line, line))
	v.set(lastShape, l.last.of(t.shape, cell))
	e.starts.set(v, t, now, line)
	e.queue.set(v, t, now)
	e.habits.set(v, t.user, float64(v[ownRunningJobs]))
}
