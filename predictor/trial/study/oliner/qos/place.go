package qos

import (
	"cmp"
	"slices"
)

// byStart is the order in which jobs wait.
func byStart(a, b *job) int { return cmp.Compare(a.from, b.from) }

// place gives j a start and nodes: the earliest start with which it succeeds with the probability
// risk, if there is one within the Horizon, else the one with which it succeeds with the greatest.
// It returns the probability that one of the nodes fails before the job's end.
func (s *simulator) place(j *job, risk float64) float64 {
	length := s.length(j.Work - j.saved)
	from := s.timeline.earliest(s.now, length, j.Nodes, s.free)
	last := from + s.Horizon
	least := s.choose(j.Nodes, from, from+length)
	at, nodes := from, slices.Clone(s.chosen)
	for fails := least; 1-fails < risk; {
		if from = s.later(from); from > last {
			break
		}
		if from = s.timeline.earliest(from, length, j.Nodes, s.free); from > last {
			break
		}
		if fails = s.choose(j.Nodes, from, from+length); fails < least {
			least, at = fails, from
			copy(nodes, s.chosen)
		}
	}
	j.from, j.to, j.nodes = at, at+length, nodes
	j.plan++
	s.timeline.take(j.nodes, j.from, j.to)
	i, _ := slices.BinarySearchFunc(s.waiting, j, func(w, j *job) int { return cmp.Or(byStart(w, j), -1) })
	s.waiting = slices.Insert(s.waiting, i, j)
	s.expect(j.from, start, j)
	return least
}

// later returns the next start at which a job may be likelier to succeed than with one at from:
// other nodes are free, or a failure is over.
func (s *simulator) later(from int64) int64 {
	at := s.timeline.next(from)
	if window := s.Predictor.Next(s.now, s.window(from)); window < Never {
		at = min(at, window+s.Downtime-1)
	}
	return at
}

// window returns the first moment at which no node may fail that is to be up at from.
func (s *simulator) window(from int64) int64 { return max(s.now, from-s.Downtime+1) }

// candidate is a node that may fail.
type candidate struct {
	node  int
	fails float64
}

// choose puts the n nodes of free into chosen that are each least likely to fail, those with lower
// numbers among equals, if a job runs in [from, to). It returns the probability that one of them
// fails.
func (s *simulator) choose(n int, from, to int64) float64 {
	clear(s.chosen)
	s.candidates = s.candidates[:0]
	window := s.window(from)
	for node := range s.free.Nodes() {
		if fails := s.Predictor.Node(s.now, node, window, to); fails > 0 {
			s.candidates = append(s.candidates, candidate{node, fails})
			continue
		}
		s.chosen.add(node)
		if n--; n == 0 {
			return 0
		}
	}
	slices.SortFunc(s.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.fails, b.fails), cmp.Compare(a.node, b.node))
	})
	for _, c := range s.candidates[:n] {
		s.chosen.add(c.node)
	}
	return s.Predictor.Nodes(s.now, s.chosen, window, to)
}
