package qbets

import (
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// service is what a partition offers: its classes and their past.
type service struct {
	start   Classifier // of the cells that classes begin as
	classes []*history // in the order of their classes, of which no two meet
}

// place is where a request belongs: by what the Classifier does not leave to the
// clustering, and by its size and limit.
type place struct {
	cell          Class // of the Classifier
	amount, limit int64
}

func (s *service) place(r *workload.Request) place {
	cell := s.start.Class(r)
	_, amount := size(&r.Size)
	return place{cell, amount, max(1, r.Limit)}
}

// in reports whether the class holds the place.
func (p *place) in(c *Class) bool {
	return c.Unit == p.cell.Unit && c.Limit.holds(p.limit) && c.Size.holds(p.amount) && c.QOS == p.cell.QOS
}

// find returns the past of the class that holds the place, or nil when none of
// its cell has been seen yet.
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

// class returns the class of a request, which is known if it may be: the
// Classifier's as long as nobody has asked for anything in that.
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

// history returns the past of the class that holds the place, which is a new one
// if none does.
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
