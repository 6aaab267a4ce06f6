package plot

import (
	"fmt"
	"io"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Waits is a picture of the distribution of waits: for every time the share of jobs that wait
// longer. Each distribution has a line.
type Waits struct {
	Title         string
	Distributions []Distribution
}

// Distribution has the waits of the jobs of a named cluster.
type Distribution struct {
	Name string
	// Percentiles has quantiles of the waits, in seconds, ascending. Element i of n is
	// the wait that a share i/(n-1) of the jobs do not exceed.
	Percentiles []int64
}

// The bounds of the axis, in seconds. Shorter waits are not shown. Longer waits extend the
// axis.
const (
	shortestWait = 60
	longestWait  = 4 * 3600
)

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (d *Waits) Write(w io.Writer, format string) error {
	longest := int64(longestWait)
	var curves lines
	var names key
	for _, distribution := range d.Distributions {
		if n := len(distribution.Percentiles); n > 1 {
			longest = max(longest, distribution.Percentiles[n-1])
			curves = append(curves, distribution.longer())
			names = append(names, distribution.Name)
		}
	}
	if curves == nil {
		return fmt.Errorf("%w: no job has waited", ErrNothing)
	}
	p := newAxes(d.Title, "wait", "jobs that wait for longer")
	p.X.Log = true
	p.X.Min, p.X.Max = shortestWait, float64(longest)
	p.X.Marker = waitTicks{}
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Marker = percentTicks{}
	p.Add(curves, names)
	return write(w, format, p.Draw)
}

// longer returns the share of the jobs that wait longer than each percentile. Of the
// percentiles below the axis it keeps only the last.
func (d Distribution) longer() []sheet.Point {
	var path []sheet.Point
	steps := len(d.Percentiles) - 1
	for i, wait := range d.Percentiles {
		at := sheet.Point{X: max(shortestWait, float64(wait)), Y: 1 - float64(i)/float64(steps)}
		if len(path) > 0 && path[len(path)-1].X == shortestWait && at.X == shortestWait {
			path = path[:0]
		}
		path = append(path, at)
	}
	return path
}

// waitTicks labels a logarithmic axis of seconds with round durations.
type waitTicks struct{}

// Ticks returns the labels between low and high.
func (waitTicks) Ticks(low, high float64) []axes.Tick {
	var ticks []axes.Tick
	for _, t := range []axes.Tick{
		{Value: 60, Label: "1 min"}, {Value: 300, Label: "5 min"}, {Value: 1200, Label: "20 min"},
		{Value: 3600, Label: "1 h"}, {Value: 4 * 3600, Label: "4 h"}, {Value: 12 * 3600, Label: "12 h"},
		{Value: 86400, Label: "1 day"}, {Value: 3 * 86400, Label: "3 days"}, {Value: 7 * 86400, Label: "1 week"},
		{Value: 30 * 86400, Label: "30 days"}, {Value: 120 * 86400, Label: "120 days"}, {Value: 365 * 86400, Label: "1 year"},
	} {
		if low <= t.Value && t.Value <= high {
			ticks = append(ticks, t)
		}
	}
	return ticks
}
