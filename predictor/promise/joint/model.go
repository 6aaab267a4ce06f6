package joint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// Model makes quotes for groups, and learns from their outcomes. The zero Model has learnt nothing.
type Model struct {
	// Dependence measures the correlations of the sites' delays.
	Dependence
	recalibrations [kinds]stats.Platt // by Kind; the element of Single is not used
}

// Quote is a forecast of a group's success. All numbers are probabilities.
type Quote struct {
	// Independent is the probability if the members' starts are independent. Joint is the
	// probability with the measured correlations.
	Independent, Joint float64
	// Prob is Joint, recalibrated by the outcomes of earlier quotes of the group's Kind.
	Prob float64
	// Lower is a lower confidence bound on Prob, of level .95. Promises rest on it.
	Lower float64
	// Least and Most are Fréchet's bounds: Independent and Joint lie between them. Prob may lie
	// outside, because members' own probabilities may be wrong.
	Least, Most float64
	// Strongest is the measured correlation between members that is farthest from 0.
	Strongest Estimate
}

// Quote returns the quote for a group at a time, Unix seconds. For a group with one member, the
// quote is the member's probability.
func (m *Model) Quote(g Group, now int64) Quote {
	q := Quote{Independent: g.Independent()}
	q.Least, q.Most = g.Bounds()
	known := map[[2]string]float64{}
	q.Joint = g.Prob(func(a, b string) float64 {
		pair := [2]string{min(a, b), max(a, b)}
		if r, ok := known[pair]; ok {
			return r
		}
		e := m.Between(pair[0], pair[1], now)
		if e.Correlation*e.Correlation > q.Strongest.Correlation*q.Strongest.Correlation {
			q.Strongest = e
		}
		known[pair] = e.Correlation
		return e.Correlation
	})
	q.Prob, q.Lower = q.Joint, q.Joint
	if kind := g.Kind(); kind != Single {
		q.Prob, q.Lower = m.recalibrations[kind].Prob(q.Joint, now)
	}
	return q
}

// Came takes in whether a group of a kind has succeeded. joint is the Joint of the group's quote.
// now is when the outcome was known, Unix seconds: the time of the start that decided it, or else
// the deadline. Do not report a group that was cancelled before its outcome. Probabilities outside
// (0,1) teach nothing and are ignored.
func (m *Model) Came(kind Kind, joint float64, came bool, now int64) {
	if kind != Single && kind < kinds && joint > 0 && joint < 1 && now >= 0 {
		m.recalibrations[kind].Learn(joint, came, now)
	}
}

// State is everything that a Model knows, to be saved as JSON.
type State struct {
	Sites map[string][]Window `json:"sites"`
	Any   stats.Platt         `json:"any"`
	All   stats.Platt         `json:"all"`
	// Nested is for groups of neither kind.
	Nested stats.Platt `json:"nested"`
}

// State returns everything that the Model knows. It shares nothing with the Model.
func (m *Model) State() State {
	s := State{
		Sites: map[string][]Window{}, Any: m.recalibrations[Any], All: m.recalibrations[All], Nested: m.recalibrations[Nested],
	}
	for site := range m.sites {
		s.Sites[site] = m.Windows(site)
	}
	return s
}

// Restore replaces what the Model knows by what State has returned. It returns an error, and
// changes nothing, if State cannot have returned s.
func (m *Model) Restore(s State) error {
	if len(s.Sites) > mostSites {
		return fmt.Errorf("%d sites are more than the %d that are remembered; leave some out", len(s.Sites), mostSites)
	}
	var restored Model
	for _, site := range slices.Sorted(maps.Keys(s.Sites)) {
		if err := restored.SetWindows(site, s.Sites[site]); err != nil {
			return err
		}
	}
	for kind, l := range [kinds]*stats.Platt{Any: &s.Any, All: &s.All, Nested: &s.Nested} {
		if l == nil {
			continue
		}
		if err := l.Check(); err != nil {
			return fmt.Errorf("recalibration of groups: %w", err)
		}
		restored.recalibrations[kind] = *l
	}
	*m = restored
	return nil
}
