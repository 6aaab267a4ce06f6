package qbets

import (
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// service has the classes of a partition with their histories.
type service struct {
	cell    func(*workload.Request) Class // the class that a request belongs to at first
	classes []*history                    // by Class.compare; the classes are disjoint
}

// place is what decides to which class a request belongs. Partition, unit and QOS of its
// cell never change. The clustering moves the bounds of sizes and limits, which amount and
// limit are compared with.
type place struct {
	cell          Class
	amount, limit int64
}

func (s *service) place(r *workload.Request) place {
	cell := s.cell(r)
	_, amount := size(&r.Size)
	return place{cell, amount, max(1, r.Limit)}
}

// in reports whether requests with this place belong to the class.
func (p *place) in(c *Class) bool {
	return c.Unit == p.cell.Unit && c.Limit.contains(p.limit) && c.Size.contains(p.amount) && c.QOS == p.cell.QOS
}

// find returns the history of the class that the place is in, or nil if there is none yet.
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

// class returns the class of a request. It returns known, which may be zero, if the request
// belongs to that. If there is no class for the request yet, it returns the request's cell.
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

// history returns the history of the class that the place is in. It makes one if there is
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
