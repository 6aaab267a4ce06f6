package scenario

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
)

// Week has what is counted by weeks, as waits and promises of one week depend on one another.
type Week struct {
	Week int64 `json:"week"` // as score.Week numbers it
	// Others counts the jobs of Result.Others that were submitted in the week. Wait is the
	// sum of their waits in seconds.
	Others int     `json:"others"`
	Wait   float64 `json:"wait"`
	// Promised counts the promises with deadlines in the week, of which Kept were kept. Later
	// and LaterKept are the same of offers that were taken.
	Promised  int `json:"promised"`
	Kept      int `json:"kept"`
	Later     int `json:"later,omitempty"`
	LaterKept int `json:"later_kept,omitempty"`
}

// weeks are ascending.
type weeks []Week

// at returns the week of a time. It adds the week if there is none. The pointer is valid until the
// next call of at.
func (w *weeks) at(time int64) *Week { return w.numbered(score.Week(score.Day(time))) }

// numbered returns the week with a number, as at does.
func (w *weeks) numbered(week int64) *Week {
	i, found := slices.BinarySearchFunc(*w, week, func(w Week, n int64) int { return cmp.Compare(w.Week, n) })
	if !found {
		*w = slices.Insert(*w, i, Week{Week: week})
	}
	return &(*w)[i]
}

// conclude fills in what follows from the promises of the weeks, from what else is in the result,
// and from the sum of the forecasts of the promises.
func (r *VARQResult) conclude(w weeks, prob float64) {
	kept := w.proportion(func(w *Week) stats.Count { return stats.Count{N: w.Kept, Of: w.Promised} })
	r.Promised, r.Kept = kept.Of, kept.n
	r.KeptLow, r.KeptHigh = kept.Low, kept.High
	if r.Promised > 0 {
		r.Prob = prob / float64(r.Promised)
	}
	if r.Work > 0 {
		r.Overhead = r.Held / r.Work
	}
	if o := r.Offers; o != nil {
		later := w.proportion(func(w *Week) stats.Count { return stats.Count{N: w.LaterKept, Of: w.Later} })
		o.Refused, o.Later, o.Kept = r.Asked-r.Promised, later.Of, later.n
		o.KeptLow, o.KeptHigh = later.Low, later.High
	}
}

// proportion is a share of which n are counted.
type proportion struct {
	score.Proportion
	n int
}

// proportion returns the share that a count has in all weeks, with its interval.
func (w weeks) proportion(of func(*Week) stats.Count) proportion {
	var weekly score.Weekly
	for i := range w {
		if c := of(&w[i]); c.Of > 0 {
			*weekly.At(w[i].Week) = c
		}
	}
	if all := weekly.Sum(); all.Of > 0 {
		return proportion{weekly.Proportion(), all.N}
	}
	return proportion{Proportion: score.Proportion{High: 1}}
}
