// Package group finds the jobs for which forecasts are worst. A group is the jobs that have one
// property in common: the month or the hour of their submission, their queue, size, time limit or
// user, their place in a burst, or how wide their forecast is.
package group

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// Group names a group of jobs.
type Group struct {
	By    string `json:"by"`    // the property
	Value string `json:"value"` // what the jobs have in common
}

// User is the By of the groups of the users' jobs.
const User = "user"

// Of returns the groups that a job belongs to whatever is forecast for it. place is its place in
// its burst, as Bursts tells it.
func Of(j *workload.Job, place int) []Group {
	groups := []Group{
		{"month", Month(j.Submit)},
		{"hour", hours[time.Unix(j.Submit, 0).UTC().Hour()]},
		{"queue", Queue(&j.Request).String()},
		{"size", Size(&j.Request).String()},
		{"limit", qbets.Class{Limit: qbets.Cell(&j.Request).Limit}.String()},
		{"burst", inBurst(place)},
	}
	if j.User != "" {
		groups = append(groups, Group{User, j.User})
	}
	return groups
}

// Month returns the month of a time in Unix seconds, in UTC, such as "2006-01".
func Month(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01") }

// Queue returns the class of the jobs in the partition and QOS of a request.
func Queue(r *workload.Request) qbets.Class {
	return qbets.Class{Partition: r.Queue(), QOS: r.QOS}
}

// Size returns the class of the jobs of about the size of a request.
func Size(r *workload.Request) qbets.Class {
	cell := qbets.Cell(r)
	return qbets.Class{Unit: cell.Unit, Size: cell.Size}
}

// hours are the names of the hours of the day.
var hours = func() (names [24]string) {
	for h := range names {
		names[h] = fmt.Sprintf("%02d:00-%02d:59 UTC", h, h)
	}
	return names
}()

// WithForecast returns the groups of a job, as Of does, and that of its forecast by its width, if
// that is known. It changes nothing of groups.
func WithForecast(groups []Group, said []score.Quantile) []Group {
	if g, ok := byWidth(said); ok {
		return append(slices.Clip(groups), g)
	}
	return groups
}

// byWidth returns the group of a forecast by its width: how many times its least quantile its
// greatest one is, of times and a minute more. It reports false if that is not known.
func byWidth(said []score.Quantile) (Group, bool) {
	if len(said) < 2 {
		return Group{}, false
	}
	low, high := math.Inf(1), 0.
	for _, q := range said {
		low, high = min(low, q.Seconds), max(high, q.Seconds)
	}
	if !(low >= 0) || math.IsInf(high, 1) {
		return Group{}, false
	}
	width := (high + 60) / (low + 60)
	for i, most := range widths {
		if width < most {
			return Group{"width", widthNames[i]}, true
		}
	}
	return Group{"width", widthNames[len(widths)]}, true
}

var (
	widths     = [...]float64{2, 5, 20, 100}
	widthNames = [...]string{"less than 2 times", "2 to 5 times", "5 to 20 times", "20 to 100 times", "100 times and more"}
)
