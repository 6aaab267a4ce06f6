package walltime

import (
	"math/bits"

	"github.com/varq-project/varq/predictor/sched"
)

// by is what a category predicts by.
type by uint8

const (
	mean  by = iota // of run times
	share           // mean of run times by times asked for
	line            // through run times against processors
)

// traits are in what jobs may be alike.
type traits uint8

const (
	user traits = 1 << iota
	group
	app
	queue
	procs // to a factor of two
	limit
)

// template says in what the jobs of a category are alike, and by what it
// predicts.
type template struct {
	traits traits
	by     by
	name   string
}

// templates are what jobs may have in common, from the special to the general.
// Smith searched for the best of each log by a genetic algorithm; this list is the
// same for all, and leaves it to the categories themselves which of them matter.
var templates = [...]template{
	{user | app | procs | limit, mean, "user, application, size and limit"},
	{user | app | procs, mean, "user, application and size"},
	{user | procs | limit, mean, "user, size and limit"},
	{user | limit, mean, "user and limit"},
	{user | procs, mean, "user and size"},
	{user | app, line, "user and application, by size"},
	{user, mean, "user"},
	{user, share, "user, by limit"},
	{user | queue, mean, "user and queue"},
	{app | limit, mean, "application and limit"},
	{group | procs | limit, mean, "group, size and limit"},
	{queue | procs | limit, mean, "queue, size and limit"},
	{queue | procs, mean, "queue and size"},
	{limit, mean, "limit"},
	{0, share, "all, by limit"},
}

// key names a category; what its template does not look at is 0.
type key struct {
	template                       *template
	user, group, app, queue, procs int32
	limit                          int64
}

// key returns the category that a job belongs to, false if what the template
// looks at is not known of it.
func (t *template) key(j *sched.Job) (key, bool) {
	k := key{template: t}
	for _, trait := range [...]struct {
		is    traits
		value int32
		to    *int32
	}{
		{user, j.User, &k.user}, {group, j.Group, &k.group}, {app, j.App, &k.app}, {queue, j.Queue, &k.queue},
	} {
		if t.traits&trait.is == 0 {
			continue
		}
		if trait.value < 0 {
			return key{}, false
		}
		*trait.to = trait.value
	}
	if t.traits&procs != 0 {
		k.procs = int32(bits.Len32(uint32(j.Procs)))
	}
	if t.traits&limit != 0 {
		k.limit = j.Limit
	}
	return k, true
}
