package plot

import (
	"errors"
	"io"
	"math"
	"sort"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Waits is a picture of how long jobs wait: for every time the share of jobs that
// wait for longer, one line for each distribution.
type Waits struct {
	Title         string
	Distributions []Distribution
}

// Distribution is a named sample of waits.
type Distribution struct {
	Name  string
	Waits []int64 // seconds, in ascending order
}

// The waits that are shown, in seconds: nobody minds less, and there is room for
// that much at least.
const (
	shortestWait = 60
	longestWait  = 4 * 3600
)

// steps is how many points a line has.
const steps = 500

// Write draws the picture in a format, "svg" or "png". Its error is w's, or that
// there is nothing to draw.
func (d *Waits) Write(w io.Writer, format string) error {
	longest := int64(longestWait)
	var names key
	for _, sample := range d.Distributions {
		if len(sample.Waits) == 0 {
			continue
		}
		names = append(names, sample.Name)
		longest = max(longest, sample.Waits[len(sample.Waits)-1])
	}
	if names == nil {
		return errors.New("nothing to draw: no job waited or started")
	}
	var curves lines
	for _, sample := range d.Distributions {
		if len(sample.Waits) > 0 {
			curves = append(curves, sample.longer(longest))
		}
	}
	p := axes(d.Title, "wait", "jobs that wait for longer")
	p.X.Scale = gonum.LogScale{}
	p.X.Min, p.X.Max = shortestWait, float64(longest)
	p.X.Tick.Marker = waitTicks{}
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = percentTicks{}
	p.Add(curves, names)
	return write(w, format, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, vg.Points(10), -vg.Points(25), vg.Points(8), -vg.Points(10)))
	})
}

// longer returns the share of waits that are longer than each of some times,
// which lie evenly on a logarithmic axis.
func (d Distribution) longer(longest int64) plotter.XYs {
	path := make(plotter.XYs, steps+1)
	ratio := float64(longest) / shortestWait
	for i := range path {
		x := shortestWait * math.Pow(ratio, float64(i)/steps)
		shorter := sort.Search(len(d.Waits), func(k int) bool { return float64(d.Waits[k]) > x })
		path[i] = plotter.XY{X: x, Y: 1 - float64(shorter)/float64(len(d.Waits))}
	}
	return path
}

// waitTicks labels an axis of seconds, if it is a logarithmic one, as people count
// time.
type waitTicks struct{}

// Ticks returns those labels that lie between low and high.
func (waitTicks) Ticks(low, high float64) []gonum.Tick {
	var ticks []gonum.Tick
	for _, t := range []gonum.Tick{
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
