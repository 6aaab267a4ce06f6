package walltime

import "github.com/varq-project/varq/predictor/cluster/sched"

// most is the most categories of a store, and the most kinds of jobs whose categories it keeps
// for one look.
const most = 1 << 16

// store holds the categories to which jobs were last added: at least about half of most, and
// at most most. The zero store is empty.
type store struct {
	young, old map[key]*category
	// kinds holds the categories of jobs that are alike in all traits, so that one look is
	// enough. All of these categories are young.
	kinds map[key]*alike
}

// alike is the categories that a job belongs to, by template. A category is nil if the job
// lacks a trait of the template, or if there is no such category yet.
type alike [len(templates)]*category

// of returns the categories of a job. It makes none.
func (s *store) of(j *sched.Job) (a alike) {
	if known, ok := s.kinds[kindOf(j)]; ok {
		return *known
	}
	for t := range templates {
		a[t] = s.category(t, j)
	}
	return a
}

// category returns the category of templates[t] that a job belongs to, or nil.
func (s *store) category(t int, j *sched.Job) *category {
	k, ok := keyOf(t, j)
	if !ok {
		return nil
	}
	if c, ok := s.young[k]; ok {
		return c
	}
	return s.old[k]
}

// special returns the category of the most special template that a job belongs to, and that
// template. It is nil if there is none.
func (s *store) special(j *sched.Job) (t int, c *category) {
	known := s.kinds[kindOf(j)]
	for t := range templates {
		if known != nil {
			c = known[t]
		} else {
			c = s.category(t, j)
		}
		if c != nil {
			return t, c
		}
	}
	return 0, nil
}

// obtain returns the categories of a job, to add the job to them. It makes those that are
// missing. When half of most are young, it forgets the old ones, and the young ones become old.
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
