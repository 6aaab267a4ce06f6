package faultscore

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// Forecasts are what every forecaster says of some nodes.
type Forecasts struct {
	Nodes []string
	// Expected has, by forecaster and then by node, the failures expected within a day. It is
	// negative where one of the site's own forecasters does not know.
	Expected map[string][]float64
	// Sets are sets of nodes of which varqd says how probable it is that one of them fails.
	Sets []Set
}

// Set is a set of nodes, and the probability that one of them fails within a day.
type Set struct {
	Nodes []string `json:"nodes"`
	Prob  float64  `json:"prob"`
}

// The forecasters that varqd has, besides fault.Voters.
const (
	Blend = "blend" // what varqd says
	// fault.Model, without the site's own forecasters; it is named only where there are such
	Model = "model"
	Sets  = "sets" // what varqd says of Forecasts.Sets
)

// constant is the forecaster that others are held against: one rate for all nodes.
var constant = fault.Voters[0]

// BuiltIn reports whether a forecaster is one that varqd has.
func BuiltIn(forecaster string) bool {
	return forecaster == Blend || forecaster == Model || forecaster == Sets || slices.Contains(fault.Voters[:], forecaster)
}

// round is what all forecasters said at one time.
type round struct {
	At    int64           `json:"at"`
	Nodes []string        `json:"nodes"`
	Said  map[string]said `json:"said"` // by forecaster
	Sets  []Set           `json:"sets,omitempty"`
}

// said is what one forecaster said.
type said struct {
	Expected []float32 `json:"expected"` // as in Forecasts
	// Since has the nodes whose risk is at or above the alarm level, and the time of the first of
	// the rounds in succession in which it is.
	Since map[string]int64 `json:"since,omitempty"`
}

// newRound returns the round at a time, given the last one, or nil, and each forecaster's alarm
// level.
func newRound(at int64, f Forecasts, last *round, levels map[string]float64) *round {
	r := &round{At: at, Nodes: f.Nodes, Said: map[string]said{}, Sets: f.Sets}
	for forecaster, expected := range f.Expected {
		s := said{Expected: make([]float32, len(expected)), Since: map[string]int64{}}
		level, known := levels[forecaster]
		for n, e := range expected {
			s.Expected[n] = float32(e)
			if !known || e < 0 || probOf(e) < level {
				continue
			}
			since := at
			if last != nil && last.At >= at-2*every {
				if before, ok := last.Said[forecaster].Since[f.Nodes[n]]; ok {
					since = before
				}
			}
			s.Since[f.Nodes[n]] = since
		}
		r.Said[forecaster] = s
	}
	return r
}

// scores returns the scores of the round, given the nodes that there still are, and when nodes
// failed first, if they did since the round. A node that is gone is left out: nobody knows what
// became of it.
func (r *round) scores(there map[string]bool, failures map[string]int64) map[string]*score.Faults {
	all := map[string]*score.Faults{}
	for forecaster, s := range r.Said {
		sums := &score.Faults{}
		for n, node := range r.Nodes {
			expected, at := float64(s.Expected[n]), failures[node]
			if expected < 0 || !there[node] {
				continue
			}
			failed := at != 0
			since, alarm := s.Since[node]
			rate := float64(r.Said[constant].Expected[n])
			sums.Add(probOf(expected), failed, alarm, fault.Loss(expected, failed), fault.Loss(rate, failed))
			if !failed || at >= r.At+every { // a later round announces it
				continue
			}
			lead := int64(-1)
			if alarm {
				lead = at - since
			}
			sums.Announce(lead)
		}
		all[forecaster] = sums
	}
	all[Sets] = r.scoresOfSets(there, failures)
	return all
}

// scoresOfSets returns the scores of the sets all of whose nodes there still are. The constant rate
// takes nodes to fail independently.
func (r *round) scoresOfSets(there map[string]bool, failures map[string]int64) *score.Faults {
	sums := &score.Faults{}
	for _, set := range r.Sets {
		if slices.ContainsFunc(set.Nodes, func(node string) bool { return !there[node] }) {
			continue
		}
		failed := slices.ContainsFunc(set.Nodes, func(node string) bool { return failures[node] != 0 })
		rate := float64(len(set.Nodes)) * float64(r.Said[constant].Expected[0])
		sums.Add(set.Prob, failed, false, fault.Loss(-math.Log1p(-min(set.Prob, mostProb)), failed), fault.Loss(rate, failed))
	}
	return sums
}

// mostProb is the largest probability that a loss is reckoned with.
const mostProb = 1 - 1e-9

// losses returns what each of some voters has lost in the round, in nats. Where one does not know
// it is taken to have said what the blend did, so that it neither gains nor loses.
func (r *round) losses(voters []string, there map[string]bool, failures map[string]int64) []float64 {
	losses := make([]float64, len(voters))
	blend := r.Said[Blend].Expected
	for i, voter := range voters {
		said, ok := r.Said[voter]
		for n, node := range r.Nodes {
			if !there[node] {
				continue
			}
			expected := blend[n]
			if ok && said.Expected[n] >= 0 {
				expected = said.Expected[n]
			}
			losses[i] += fault.Loss(float64(expected), failures[node] != 0)
		}
	}
	return losses
}

// sound reports whether a round that was read makes sense.
func (r *round) sound() bool {
	for _, forecaster := range []string{Blend, constant} {
		if _, ok := r.Said[forecaster]; !ok {
			return false
		}
	}
	for _, s := range r.Said {
		if len(r.Nodes) == 0 || len(s.Expected) != len(r.Nodes) {
			return false
		}
	}
	return true
}

// probOf returns the probability that a node fails of which so many failures are expected.
func probOf(expected float64) float64 { return -math.Expm1(-expected) }
