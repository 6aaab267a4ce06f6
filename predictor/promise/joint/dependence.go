package joint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	// hour is the length in seconds of a window. Jobs at two sites count as submitted at the same
	// time if they are submitted in the same window.
	hour = 3600
	day  = 24 * hour
	// Windows that are older than memory, in seconds, are forgotten. A window of the age halfLife
	// counts half.
	memory   = 91 * day
	halfLife = 45 * day
	// settled is the age in seconds from which on a window counts. A younger window knows only the
	// short waits.
	settled = 2 * day
	// believe is the weight of the prior: so many days without correlation are assumed to have been
	// seen at the beginning.
	believe = 10.
	// farthest is the largest absolute normal score, and strongest the largest absolute
	// correlation.
	farthest, strongest = 3., .99
	// mostSites bounds the sites that are remembered.
	mostSites = 128
)

// Window has the normal scores of the waits of the jobs that were submitted to one site in one
// hour.
type Window struct {
	Hour    int64   `json:"hour"` // since 1970-01-01
	N       int     `json:"n"`    // jobs
	Sum     float64 `json:"sum"`  // of the scores
	Squares float64 `json:"squares"`
}

// Dependence measures the correlation of the delays at several sites. The zero Dependence has seen
// nothing.
//
// The wait of a job has a rank under its forecast (delay.Distribution.PIT), and the rank has a
// normal score. Two jobs, one from each of two sites, were submitted in the same hour. The
// correlation of their scores is the correlation of the sites. It leaves out what the forecasts
// know, for example that it is night. All pairs of an hour together count as one.
type Dependence struct {
	sites map[string][]Window // ascending
}

// Learn takes in the start of a job: the site and the time of its submission, and the rank of its
// wait under its forecast at submission, in [0,1]. Times are Unix seconds. A job that was submitted
// after now, or too long ago, is ignored. Do not report jobs that are made to start together, such
// as the jobs of a group with several sets.
//
// If there are more than 128 sites, the site whose latest job is the oldest is forgotten.
func (d *Dependence) Learn(site string, submit, now int64, rank float64) {
	if submit > now || submit < now-memory || submit < 0 || !(rank >= 0 && rank <= 1) {
		return
	}
	score := max(-farthest, min(quantile(max(1e-9, min(rank, 1-1e-9))), farthest))
	windows := d.site(site)
	i, found := slices.BinarySearchFunc(windows, submit/hour, func(w Window, hour int64) int { return cmp.Compare(w.Hour, hour) })
	if !found {
		windows = slices.Insert(windows, i, Window{Hour: submit / hour})
	}
	w := &windows[i]
	w.N++
	w.Sum += score
	w.Squares += score * score
	oldest := (now - memory) / hour
	if windows[0].Hour < oldest {
		windows = slices.DeleteFunc(windows, func(w Window) bool { return w.Hour < oldest })
	}
	d.sites[site] = windows
}

// site returns the windows of a site. If the site is new and there are mostSites already, it
// forgets one of them.
func (d *Dependence) site(name string) []Window {
	if d.sites == nil {
		d.sites = map[string][]Window{}
	}
	if _, known := d.sites[name]; !known && len(d.sites) >= mostSites {
		latest := func(site string) int64 { return d.sites[site][len(d.sites[site])-1].Hour }
		delete(d.sites, slices.MinFunc(slices.Collect(maps.Keys(d.sites)), func(a, b string) int {
			return cmp.Or(cmp.Compare(latest(a), latest(b)), cmp.Compare(a, b))
		}))
	}
	return d.sites[name]
}

// Windows returns what is known of a site, in the order of time. A site sends its own windows to
// others.
func (d *Dependence) Windows(site string) []Window { return slices.Clone(d.sites[site]) }

// SetWindows replaces what is known of a site. It returns an error, and changes nothing, if Windows
// cannot have returned these windows. The error says what is wrong.
func (d *Dependence) SetWindows(site string, windows []Window) error {
	if len(windows) > memory/hour+1 {
		return fmt.Errorf("windows of %.40q: %d are more than the %d hours that are remembered; send the newest", site, len(windows), memory/hour+1)
	}
	for i, w := range windows {
		n := float64(w.N)
		switch {
		case w.Hour < 0 || w.N < 1 || i > 0 && w.Hour <= windows[i-1].Hour:
			return fmt.Errorf("windows of %.40q: number %d, of hour %d with %d jobs, is not later than those before it, or has no jobs; send one window an hour, in order", site, i+1, w.Hour, w.N)
		case !(math.Abs(w.Sum) <= farthest*n) || !(w.Squares <= farthest*farthest*n*(1+1e-9)) || !(w.Squares*n*(1+1e-9)+1e-9 >= w.Sum*w.Sum):
			return fmt.Errorf("windows of %.40q: number %d has the sums %g and %g, which are not those of %d scores and their squares from %g to %g; send it anew", site, i+1, w.Sum, w.Squares, w.N, -farthest, farthest)
		}
	}
	if len(windows) == 0 {
		delete(d.sites, site)
		return nil
	}
	d.site(site)
	d.sites[site] = slices.Clone(windows)
	return nil
}

// Estimate is a measured correlation.
type Estimate struct {
	// Correlation is the correlation to use: Measured, shrunk towards 0.
	Correlation float64
	Measured    float64
	// Days is the effective number of days with jobs at both sites. Each day counts as one
	// observation, because the hours of one day depend on one another.
	Days float64
}

// Between returns the correlation between two sites, or between two jobs at one site. It rests on
// jobs that were submitted more than two days before now, in Unix seconds.
//
// With d days, Fisher's z = atanh(measured) has a standard error of about 1/sqrt(d). The prior of z
// is normal with mean 0 and variance 1/10. So the correlation is tanh(z d/(d+10)).
//
// It takes time proportional to the number of hours remembered, at most 2184.
func (d *Dependence) Between(a, b string, now int64) (e Estimate) {
	var n, sumA, sumB, squaresA, squaresB, products float64
	var weight, perDay, days, squaredDays float64
	today := int64(-1)
	others := d.sites[b]
	for _, w := range d.sites[a] {
		at := w.Hour * hour
		for len(others) > 0 && others[0].Hour < w.Hour {
			others = others[1:]
		}
		if at+hour > now-settled || len(others) == 0 {
			break
		}
		v := others[0]
		if v.Hour != w.Hour || a == b && w.N < 2 || at < now-memory {
			continue
		}
		if w.Hour/24 != today {
			days, squaredDays = days+perDay, squaredDays+perDay*perDay
			today, perDay = w.Hour/24, 0
			weight = math.Exp2(-float64(now-today*day) / halfLife)
		}
		perDay += weight
		nw, nv := float64(w.N), float64(v.N)
		product := w.Sum / nw * v.Sum / nv
		if a == b { // of two different jobs
			product = (w.Sum*w.Sum - w.Squares) / (nw * (nw - 1))
		}
		n += weight
		sumA, sumB = sumA+weight*w.Sum/nw, sumB+weight*v.Sum/nv
		squaresA, squaresB = squaresA+weight*w.Squares/nw, squaresB+weight*v.Squares/nv
		products += weight * product
	}
	days, squaredDays = days+perDay, squaredDays+perDay*perDay
	if squaredDays == 0 {
		return e
	}
	e.Days = days * days / squaredDays
	meanA, meanB := sumA/n, sumB/n
	spread := (squaresA/n - meanA*meanA) * (squaresB/n - meanB*meanB)
	if !(spread > 0) {
		return e
	}
	e.Measured = max(-strongest, min((products/n-meanA*meanB)/math.Sqrt(spread), strongest))
	e.Correlation = math.Tanh(math.Atanh(e.Measured) * e.Days / (e.Days + believe))
	return e
}

// At returns the correlations to use at a time, Unix seconds.
func (d *Dependence) At(now int64) Correlation {
	return func(a, b string) float64 { return d.Between(a, b, now).Correlation }
}
