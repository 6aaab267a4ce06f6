package group

import (
	"cmp"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
)

const (
	// Least is the least number of jobs of a group that Worst returns.
	Least = 500
	// Most is how many groups Worst returns at most.
	Most = 12
)

// Tally counts the jobs of a group, and by quantile in how many cases it held.
type Tally struct {
	Jobs int
	Held []score.Weekly
}

// Tallies has the tallies of some groups.
type Tallies map[Group]*Tally

// At returns the tally of a group. It adds an empty one, of so many quantiles, if there is none.
func (t Tallies) At(g Group, quantiles int) *Tally {
	if t[g] == nil {
		t[g] = &Tally{Held: make([]score.Weekly, quantiles)}
	}
	return t[g]
}

// Add counts the quantiles that were forecast for a job, and whether they held. The job began to
// wait in week. A quantile that has no number is not counted.
func (t *Tally) Add(week int64, said []score.Quantile) {
	t.Jobs++
	for i := range said {
		if said[i].Known() {
			t.Held[i].At(week).Add(said[i].Covered)
		}
	}
}

// Coverage is how often the quantiles of a forecaster held for the jobs of a group.
type Coverage struct {
	Group
	Jobs int `json:"jobs"`
	// Coverage is, by quantile, in which share of the cases it held, with its interval.
	Coverage []score.Proportion `json:"coverage"`
	// Off is how far the group is off, for certain: the largest distance of a quantile from the
	// interval of its coverage, in standard deviations of one job. It is 0 if each interval has its
	// quantile.
	Off float64 `json:"off"`
}

// MostOff returns which of the quantiles, those of the Coverage, is Off.
func (c *Coverage) MostOff(quantiles []float64) int {
	for i, q := range quantiles {
		if off(q, c.Coverage[i]) == c.Off {
			return i
		}
	}
	return 0
}

// off returns how far a coverage is from its quantile q for certain, in standard deviations of one
// job.
func off(q float64, p score.Proportion) float64 {
	if p.Of == 0 {
		return 0
	}
	return max(0, q-p.High, p.Low-q) / math.Sqrt(q*(1-q))
}

// Worst returns the groups of Least jobs or more that are most off, those first, without those that
// may be off by chance. There are Most of them at most. quantiles are those that the tallies count.
func Worst(tallies Tallies, quantiles []float64) []Coverage {
	var all []Coverage
	for g, t := range tallies {
		if t.Jobs < Least {
			continue
		}
		c := Coverage{Group: g, Jobs: t.Jobs}
		for i, q := range quantiles {
			p := t.Held[i].Proportion()
			c.Coverage = append(c.Coverage, p)
			c.Off = max(c.Off, off(q, p))
		}
		if c.Off > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(b.Off, a.Off), cmp.Compare(a.By, b.By), cmp.Compare(a.Value, b.Value))
	})
	return all[:min(len(all), Most)]
}
