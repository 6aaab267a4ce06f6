package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Sizes is a picture of how long a job waits and runs on several numbers of nodes.
type Sizes struct {
	Title  string
	Points []SizePoint // in increasing order of Nodes, at least two
	Best   int32       // the Nodes of the best, 0 without one
	Runs   []SizeRun   // past runs of the job, if its run times were fitted to them
}

// SizePoint is a size of the job. Times are in seconds.
type SizePoint struct {
	Nodes     int32
	Wait, Run float64
	Low, High float64 // the interval of the run time, 0 without one
}

// SizeRun is a past run.
type SizeRun struct {
	Nodes   int32
	Seconds float64
}

// sizeLines are the lines of the picture, in its order of colours.
var sizeLines = []struct {
	name string
	of   func(SizePoint) float64
}{
	{"until the end", func(p SizePoint) float64 { return p.Wait + p.Run }},
	{"wait", func(p SizePoint) float64 { return p.Wait }},
	{"run time", func(p SizePoint) float64 { return p.Run }},
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (s *Sizes) Write(w io.Writer, format string) error {
	if len(s.Points) < 2 || s.Points[0].Nodes == s.Points[len(s.Points)-1].Nodes {
		return fmt.Errorf("%w: fewer than two sizes", ErrNothing)
	}
	most := 0.
	for _, p := range s.Points {
		most = max(most, p.Wait+p.Run, p.High)
	}
	unit, name := 60., "minutes"
	const hours, days = 3 * 3600, 3 * 86400
	switch {
	case most > days:
		unit, name = 86400, "days"
	case most > hours:
		unit, name = 3600, "hours"
	}
	p := newAxes(s.Title, "nodes", name)
	const margin = 1.05
	p.Y.Min, p.Y.Max = 0, margin*most/unit
	p.X.Log = true
	p.X.Min, p.X.Max = float64(s.Points[0].Nodes), float64(s.Points[len(s.Points)-1].Nodes)
	p.X.Marker = s.ticks()
	p.Y.Marker = axes.Round{Short: true}
	var names key
	for _, l := range sizeLines {
		names = append(names, l.name)
	}
	p.Add(sizeLayers{s, unit}, names)
	return write(w, format, p.Draw)
}

// ticks labels the sizes, but for those that are too near the one before.
func (s *Sizes) ticks() axes.Ticks {
	first, last := math.Log(float64(s.Points[0].Nodes)), math.Log(float64(s.Points[len(s.Points)-1].Nodes))
	var ticks axes.Ticks
	labelled := math.Inf(-1)
	for _, p := range s.Points {
		tick := axes.Tick{Value: float64(p.Nodes)}
		if at := math.Log(tick.Value); at-labelled >= (last-first)/(2*mostTicks) {
			tick.Label, labelled = strconv.Itoa(int(p.Nodes)), at
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// sizeLayers draws the sizes between the axes, with so many seconds in a unit of the vertical one.
type sizeLayers struct {
	*Sizes
	unit float64
}

// Draw implements axes.Layer.
func (l sizeLayers) Draw(c sheet.Canvas, p *axes.Plot) {
	x, y := p.Places(&c)
	at := func(nodes int32, seconds float64) sheet.Point {
		return sheet.Point{X: x(float64(nodes)), Y: y(min(seconds/l.unit, p.Y.Max))}
	}
	var band []sheet.Point
	for _, s := range l.Points {
		band = append(band, at(s.Nodes, s.High))
	}
	for i := range l.Points {
		s := l.Points[len(l.Points)-1-i]
		band = append(band, at(s.Nodes, s.Low))
	}
	c.Fill(enough, band)
	var paths lines
	for _, drawn := range sizeLines {
		var path []sheet.Point
		for _, s := range l.Points {
			path = append(path, sheet.Point{X: float64(s.Nodes), Y: drawn.of(s) / l.unit})
		}
		paths = append(paths, path)
	}
	paths.Draw(c, p)
	dot := func(shade color.NRGBA, radius float64, nodes int32, seconds float64) {
		c.Dot(shade, radius, at(nodes, seconds))
	}
	for _, r := range l.Runs {
		if n := float64(r.Nodes); n >= p.X.Min && n <= p.X.Max && r.Seconds/l.unit <= p.Y.Max {
			dot(blue, 2, r.Nodes, r.Seconds)
		}
	}
	for _, s := range l.Points {
		if s.Nodes == l.Best {
			dot(orange, 5, s.Nodes, s.Wait+s.Run)
		}
	}
}
