// Package faultscore scores varqd's forecasts of failures. Every six hours it stores forecasts for
// the next day: every forecaster's for each node in service, and varqd's for the nodes of each
// running job together. A forecast is the probability of a failure within the day. When the day is
// over, the package scores the forecasts by the failures that happened. The scores of the site's
// own forecasters decide their parts in varqd's forecast. Times are Unix seconds.
//
// Invariants: a forecast, and its alarm levels, rest only on what was known when it was made. A
// forecast is scored once, even if the process dies in between. These forecasts are not scored:
//   - forecasts of nodes that Slurm no longer knows when the day is over
//   - forecasts whose day is not known: varqd did not watch all the time, and accounting cannot be
//     read
//   - forecasts outside the sample: of more than mostNodes nodes, or more than mostSets sets, each
//     round scores a random sample
package faultscore

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

const (
	every = 6 * 3600
	span  = 86400
	// settled is how long after a day it is known what happened: Slurm tells of a failure only
	// after SlurmdTimeout.
	settled   = 1800
	mostNodes = 10_000
	mostSets  = 1000 // of which a random sample is scored
	// newcomer is the part in the vote that a forecaster begins with.
	newcomer = .01
)

// Options configure a Scorer.
type Options struct {
	Store   *Store
	Rand    *rand.Rand // draws samples
	Metrics *Metrics
}

// Scorer scores forecasts of failures. Its methods may be called concurrently.
type Scorer struct {
	Options

	mu      sync.Mutex
	rounds  []int64            // the times of those that are stored, ascending
	parts   map[string]float64 // in the vote, by forecaster, without the Model's
	pending []fault.Event      // failures that are not stored yet
}

// New returns a Scorer that continues with what is stored.
func New(ctx context.Context, o Options) (*Scorer, error) {
	s := &Scorer{Options: o}
	var err error
	if s.rounds, err = o.Store.rounds(ctx); err != nil {
		return nil, err
	}
	s.parts, err = o.Store.parts(ctx)
	return s, err
}

// Over returns the time of the first round whose day is over at the time now, and false if there is
// none. To score it, what happened from then on must be known.
func (s *Scorer) Over(now int64) (first int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rounds) == 0 || s.rounds[0]+span+settled > now {
		return 0, false
	}
	return s.rounds[0], true
}

// Part returns the part in the vote of one of the site's own forecasters. The Model has what these
// leave.
func (s *Scorer) Part(forecaster string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if part, ok := s.parts[forecaster]; ok {
		return part
	}
	return newcomer
}

// Look is a look at the nodes.
type Look struct {
	At    int64
	Nodes []string // that Slurm knows
	// Failed are failures that have become known since the last look, of any time.
	Failed []fault.Event
	// Known is from when on all failures are known. If it is 0, that is not decided yet, and
	// nothing is scored.
	Known int64
	// Forecast returns the forecasts for the nodes in service.
	Forecast func() Forecasts
}

// Observe takes in a look at the nodes. It scores the forecasts whose day is over, and stores new
// ones if it is time to. An error is the store's: then nothing has changed, but that the failures
// of the look are remembered.
func (s *Scorer) Observe(ctx context.Context, l Look) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range l.Failed {
		if f.Kind == fault.Failure && (len(s.rounds) > 0 && f.At >= s.rounds[0]) {
			s.pending = append(s.pending, f)
		}
	}
	n := news{at: l.At, failed: s.pending, there: map[string]bool{}}
	for _, node := range l.Nodes {
		n.there[node] = true
	}
	for _, at := range s.rounds {
		switch {
		case at > l.At: // the clock has been set back
			n.dropped = append(n.dropped, at)
		case l.Known == 0 || at+span+settled > l.At:
			n.kept = append(n.kept, at)
		case at < l.Known:
			n.dropped = append(n.dropped, at)
		default:
			n.over = append(n.over, at)
		}
	}
	if k := len(n.kept); k == 0 || n.kept[k-1]+every <= l.At {
		f := l.Forecast()
		f.sample(mostNodes, mostSets, s.Rand)
		if len(f.Nodes) > 0 {
			n.begun = &f
		}
	}
	if n.empty() {
		return nil
	}
	done, err := s.Store.record(ctx, n)
	if err != nil {
		return err
	}
	if n.begun != nil {
		n.kept = append(n.kept, l.At)
	}
	s.rounds, s.pending = n.kept, nil
	if done.parts != nil {
		s.parts = done.parts
	}
	s.Metrics.count(done.scored)
	return nil
}

// sample leaves a random sample of at most so many nodes and sets.
func (f *Forecasts) sample(most, sets int, r *rand.Rand) {
	if len(f.Sets) > sets {
		r.Shuffle(len(f.Sets), func(i, k int) { f.Sets[i], f.Sets[k] = f.Sets[k], f.Sets[i] })
		f.Sets = f.Sets[:sets]
	}
	if len(f.Nodes) <= most {
		return
	}
	chosen := r.Perm(len(f.Nodes))[:most]
	few := Forecasts{Expected: map[string][]float64{}, Sets: f.Sets}
	for _, n := range chosen {
		few.Nodes = append(few.Nodes, f.Nodes[n])
		for forecaster, expected := range f.Expected {
			few.Expected[forecaster] = append(few.Expected[forecaster], expected[n])
		}
	}
	*f = few
}
