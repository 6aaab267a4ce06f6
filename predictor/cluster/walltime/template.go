package walltime

import (
	"math/bits"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// by is the way in which a category predicts.
type by uint8

const (
	mean  by = iota // of run times
	share           // mean of run times as shares of the limits
	line            // line through run times against processors
)

// traits are attributes in which jobs may be alike.
type traits uint8

const (
	user traits = 1 << iota
	group
	app
	queue
	procs // within a factor of two
	limit
)

// template is the traits that the jobs of a category share, and the way in which it predicts.
type template struct {
	traits traits
	by     by
	name   string
}

// templates are all templates, from the special to the general. Smith searched for the best of
// each log by a genetic algorithm. This list is the same for all logs, and the intervals decide
// which templates matter.
var templates = [...]template{
	{user | app | procs | limit, mean, "user, application, size and limit"},
	{user | app | procs, mean, "user, application and size"},
	{user | procs | limit, mean, "user, size and limit"},
	{user | limit, mean, "user and limit"},
	{user | app, line, "user and application, by size"},
	{user, mean, "user"},
	{user, share, "user, by limit"},
	{group | procs | limit, mean, "group, size and limit"},
	{queue | procs | limit, mean, "queue, size and limit"},
	{0, share, "all, by limit"},
}

// key identifies a category. A trait that its template does not use is 0. A key has no padding,
// so that maps hash it in one step.
type key struct {
	template, procs         int32
	user, group, app, queue int32
	limit                   int64
}

// keyOf returns the key of the category of templates[t] that a job belongs to. It reports false
// if the job lacks a trait of the template.
func keyOf(t int, j *sched.Job) (key, bool) {
	k, of := kindOf(j), templates[t].traits
	k.template = int32(t)
	for _, trait := range [...]struct {
		is    traits
		value *int32
	}{{user, &k.user}, {group, &k.group}, {app, &k.app}, {queue, &k.queue}, {procs, &k.procs}} {
		if of&trait.is == 0 {
			*trait.value = 0
		}
	}
	if of&limit == 0 {
		k.limit = 0
	}
	return k, k.user|k.group|k.app|k.queue >= 0
}

// kindOf returns a key of all traits.
func kindOf(j *sched.Job) key {
	return key{-1, int32(bits.Len32(uint32(j.Procs))), j.User, j.Group, j.App, j.Queue, j.Limit}
}
