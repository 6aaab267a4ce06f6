package backtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// Group is how often the quantiles of a method held for jobs that have one property in common.
type Group struct {
	By    string `json:"by"`    // the property
	Value string `json:"value"` // what the jobs have in common
	Jobs  int    `json:"jobs"`
	// Coverage is that of QuantileScore, by quantile, with its interval.
	Coverage []score.Proportion `json:"coverage"`
	// Off is how far the group is off, for certain: the largest distance of a quantile from the interval of its coverage, in
	// standard deviations of one job. It is 0 if each interval has its quantile.
	Off float64 `json:"off"`
}

// MostOff returns which of the quantiles, those of the Group, is Off.
func (g *Group) MostOff(quantiles []float64) int {
	for i, q := range quantiles {
		if off(q, g.Coverage[i]) == g.Off {
			return i
		}
	}
	return 0
}

// off returns how far a coverage is from its quantile q for certain, in standard deviations of one job.
func off(q float64, p score.Proportion) float64 {
	if p.Of == 0 {
		return 0
	}
	return max(0, q-p.High, p.Low-q) / math.Sqrt(q*(1-q))
}

const (
	// GroupJobs is the least number of jobs of a Group.
	GroupJobs = 500
	// mostGroups is how many Groups a Score has at most.
	mostGroups = 12
)

// group is one group of jobs of one property.
type group struct{ by, value string }

// ofJob returns the groups that a job belongs to whatever is forecast for it. burst is its place in its burst.
func ofJob(j *workload.Job, burst int) []group {
	groups := []group{
		{"limit", qbets.Class{Limit: qbets.Cell(&j.Request).Limit}.String()},
		{"hour", hours[time.Unix(j.Submit, 0).UTC().Hour()]},
		{"burst", placeInBurst(burst)},
	}
	for _, split := range Splits {
		value, _ := split.Value(j)
		groups = append(groups, group{split.Name, value})
	}
	if j.User != "" {
		groups = append(groups, group{"user", j.User})
	}
	return groups
}

// hours are the names of the hours of the day.
var hours = func() (names [24]string) {
	for h := range names {
		names[h] = fmt.Sprintf("%02d:00-%02d:59 UTC", h, h)
	}
	return names
}()

// placeInBurst names the places in a burst that are alike.
func placeInBurst(place int) string {
	switch {
	case place == 1:
		return "1st of its kind"
	case place == 2:
		return "2nd of its kind"
	case place < 10:
		return "3rd to 9th of its kind"
	case place <= 30:
		return "10th to 30th of its kind"
	}
	return "31st or later of its kind"
}

// burstPause is how many seconds may lie between two jobs of a burst.
const burstPause = 600

// bursts counts jobs of bursts. Those of a burst ask for the same, and are submitted one soon after the other.
type bursts map[workload.Request]burst

type burst struct {
	last int64 // submission
	jobs int
}

// place returns which of its burst a job is, from 1 on. Jobs come in the order of submission.
func (b bursts) place(j *workload.Job) int {
	now := b[j.Request]
	if j.Submit > now.last+burstPause {
		now.jobs = 0
	}
	now.last, now.jobs = j.Submit, now.jobs+1
	b[j.Request] = now
	return now.jobs
}

// ofForecast returns the group of a forecast by its width: how many times its least quantile its greatest one is, of waits and
// a minute more. It reports false if that is not known.
func ofForecast(said []score.Quantile) (group, bool) {
	if len(said) < 2 {
		return group{}, false
	}
	low, high := math.Inf(1), 0.
	for _, q := range said {
		low, high = min(low, q.Seconds), max(high, q.Seconds)
	}
	if !(low >= 0) || math.IsInf(high, 1) {
		return group{}, false
	}
	width := (high + 60) / (low + 60)
	for i, most := range widths {
		if width < most {
			return group{"width", widthNames[i]}, true
		}
	}
	return group{"width", widthNames[len(widths)]}, true
}

var (
	widths     = [...]float64{2, 5, 20, 100}
	widthNames = [...]string{"less than 2 times", "2 to 5 times", "5 to 20 times", "20 to 100 times", "100 times and more"}
)

// groupTally counts, by quantile, how often it held.
type groupTally struct {
	jobs    int
	covered []score.Weekly
}

// addGroups counts the quantiles that were said of a job in each of its groups.
func (t *tally) addGroups(o *outcome, said []score.Quantile) {
	add := func(g group) {
		sums := t.groups[g]
		if sums == nil {
			sums = &groupTally{covered: make([]score.Weekly, len(t.options.Quantiles))}
			t.groups[g] = sums
		}
		sums.jobs++
		for i := range said {
			if x := said[i].Seconds; x >= 0 && !math.IsInf(x, 1) {
				sums.covered[i].At(o.week).Add(said[i].Covered)
			}
		}
	}
	for _, g := range o.groups {
		add(g)
	}
	if g, ok := ofForecast(said); ok {
		add(g)
	}
}

// worst returns the groups of GroupJobs jobs or more that are most off, those first, without those that may be off by chance.
func (t *tally) worst() []Group {
	var all []Group
	for name, sums := range t.groups {
		if sums.jobs < GroupJobs {
			continue
		}
		g := Group{By: name.by, Value: name.value, Jobs: sums.jobs}
		for i, q := range t.options.Quantiles {
			p := sums.covered[i].Proportion()
			g.Coverage = append(g.Coverage, p)
			g.Off = max(g.Off, off(q, p))
		}
		if g.Off > 0 {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Off, a.Off), cmp.Compare(a.By, b.By), cmp.Compare(a.Value, b.Value))
	})
	return all[:min(len(all), mostGroups)]
}
