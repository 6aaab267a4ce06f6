package walltime

import "github.com/varq-project/varq/predictor/cluster/sched"

// most is how many categories are remembered, those that last learnt, and how many
// kinds of jobs the categories are known of at once.
const most = 1 << 16

// store holds the categories that were added to last: all of the last half of
// most, up to most. The zero store is empty.
type store struct {
	young, old map[key]*category
	// kinds are the categories of jobs that are alike in everything, so that one
	// look is enough. All of them are young.
	kinds map[key]*alike
}

// alike are the categories that a job belongs to, by template; nil where what the
// template looks at is not known of the job, or there is none yet.
type alike [len(templates)]*category

// of returns those categories of a job that there are.
func (s *store) of(j *sched.Job) (a alike) {
	if known, ok := s.kinds[kindOf(j)]; ok {
		return *known
	}
	for t := range templates {
		k, ok := keyOf(t, j)
		if !ok {
			continue
		}
		if a[t], ok = s.young[k]; !ok {
			a[t] = s.old[k]
		}
	}
	return a
}

// obtain returns the categories of a job, to be added to. Once there are too many,
// those are forgotten that have not been added to since as many as half of them were.
func (s *store) obtain(j *sched.Job) *alike {
	kind := kindOf(j)
	if known, ok := s.kinds[kind]; ok {
		return known
	}
	if s.young == nil || len(s.young) > most/2-len(templates) {
		s.young, s.old, s.kinds = make(map[key]*category), s.young, nil
	}
	if s.kinds == nil || len(s.kinds) == most {
		s.kinds = make(map[key]*alike)
	}
	a := s.of(j)
	for t := range templates {
		k, ok := keyOf(t, j)
		if !ok {
			continue
		}
		if a[t] == nil {
			a[t] = new(category)
		}
		delete(s.old, k)
		s.young[k] = a[t]
	}
	s.kinds[kind] = &a
	return &a
}
