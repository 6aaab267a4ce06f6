package qbets

import (
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// service is the classes of a partition, and their past.
type service struct {
	cell    func(*workload.Request) Class // that a class begins as
	classes []*history                    // in the order of their classes, which are disjoint
}

// place is where a request belongs: its cell, its size and its limit. The clustering
// moves the bounds of sizes and limits. It leaves the rest of the cell as it is.
type place struct {
	cell          Class
	amount, limit int64
}

func (s *service) place(r *workload.Request) place {
	cell := s.cell(r)
	_, amount := size(&r.Size)
	return place{cell, amount, max(1, r.Limit)}
}

// in reports whether the class holds the place.
func (p *place) in(c *Class) bool {
	return c.Unit == p.cell.Unit && c.Limit.holds(p.limit) && c.Size.holds(p.amount) && c.QOS == p.cell.QOS
}

// find returns the past of the class that holds the place, or nil if there is none yet.
func (s *service) find(p *place) *history {
	for _, h := range s.classes {
		if h.class.Limit.Above >= p.limit {
			break
		}
		if p.in(&h.class) {
			return h
		}
	}
	return nil
}

// class returns the class of a request: known if that holds it, else the one in which it
// would wait. That is its cell if nobody has asked for anything in it.
func (s *service) class(r *workload.Request, known Class) Class {
	p := s.place(r)
	if known != (Class{}) && p.in(&known) {
		return known
	}
	if h := s.find(&p); h != nil {
		return h.class
	}
	return p.cell
}

// history returns the past of the class that holds the place. It makes one if there is
// none.
func (s *service) history(p *place) *history {
	h := s.find(p)
	if h == nil {
		h = &history{class: p.cell}
		s.insert(h)
	}
	return h
}

func (s *service) insert(h *history) {
	i, _ := s.search(h.class)
	s.classes = slices.Insert(s.classes, i, h)
}

func (s *service) remove(h *history) {
	i, _ := s.search(h.class)
	s.classes = slices.Delete(s.classes, i, i+1)
}

func (s *service) search(class Class) (int, bool) {
	return slices.BinarySearchFunc(s.classes, class, func(h *history, c Class) int { return h.class.compare(c) })
}
