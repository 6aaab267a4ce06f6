package limits

import (
	"maps"
	"slices"
)

// holder is one place where limits can be set.
type holder struct {
	name string // "QOS normal", "account physics"
	*JobLimits
}

// qos returns the partition's QOS and the job's QOS, in the order of their precedence: first the
// partition's, unless the job's has the flag OverPartQOS.
func (j *Job) qos() []holder {
	var found []holder
	add := func(name string) {
		if q, ok := j.cluster.QOS[name]; ok && name != "" {
			found = append(found, holder{"QOS " + name, &q.JobLimits})
		}
	}
	of := j.partition.QOS
	switch {
	case of == j.QOS:
		add(of)
	case j.cluster.QOS[j.QOS].OverPartQOS:
		add(j.QOS)
		add(of)
	default:
		add(of)
		add(j.QOS)
	}
	return found
}

// associations returns the user's association, and then each of its parent accounts up to the
// root.
func (j *Job) associations() []holder {
	var found []holder
	if a := j.cluster.Associations.of(j.User, j.Account, j.Partition); a != nil && j.User != "" {
		found = append(found, holder{"user " + a.User + " in account " + a.Account, &a.JobLimits})
	}
	for _, a := range j.cluster.Associations.upward(j.Account, j.Partition) {
		found = append(found, holder{"account " + a.Account, &a.JobLimits})
	}
	return found
}

// chain is all that can limit a job, in the order of precedence.
type chain struct{ qos, associations, all []holder }

// chain returns all that can limit the job.
func (j *Job) chain() chain {
	qos, associations := j.qos(), j.associations()
	return chain{qos, associations, append(slices.Clone(qos), associations...)}
}

// first returns the first holder for which set is true.
func (c *chain) first(set func(holder) bool) (holder, bool) { return first(c.all, set) }

// grouped returns the holders whose limit on a group applies: the first QOS that sets it, or else
// every association that sets it.
func (c *chain) grouped(set func(holder) bool) []holder {
	if h, ok := first(c.qos, set); ok {
		return []holder{h}
	}
	return slices.DeleteFunc(slices.Clone(c.associations), func(h holder) bool { return !set(h) })
}

// names returns the TRES that any holder limits, sorted.
func (c *chain) names(of func(*JobLimits) TRES) []string {
	seen := map[string]bool{}
	for _, h := range c.all {
		for name := range of(h.JobLimits) {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func first(holders []holder, set func(holder) bool) (holder, bool) {
	i := slices.IndexFunc(holders, set)
	if i < 0 {
		return holder{}, false
	}
	return holders[i], true
}
