package plot

import (
	"fmt"
	"io"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// Reliability is a reliability diagram, with a curve for each forecaster. A dot of a curve
// shows the probabilities in an interval of width .05: their mean, and the share of them that
// came true. The area of the dot is proportional to the number of these probabilities.
type Reliability struct {
	Title  string
	Curves []Curve
}

// Curve is the reliability of a named forecaster.
type Curve struct {
	Name   string
	Points []score.Point
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (r *Reliability) Write(w io.Writer, format string) error {
	var curves curves
	var names key
	for _, c := range r.Curves {
		if len(c.Points) > 0 {
			curves = append(curves, c.Points)
			names = append(names, c.Name)
		}
	}
	if curves == nil {
		return fmt.Errorf("%w: no probability was forecast", ErrNothing)
	}
	p := axes(r.Title, "probability forecast", "share that came true")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.X.Tick.Marker, p.Y.Tick.Marker = percentTicks{}, percentTicks{}
	p.Add(curves, names)
	return write(w, format, p.Draw)
}

// curves has the points of several forecasters.
type curves [][]score.Point

// largest is the radius, in points, of a dot with all probabilities.
const largest = 14

// Plot implements gonum's Plotter.
func (cs curves) Plot(c draw.Canvas, p *gonum.Plot) {
	var paths lines
	for _, points := range cs {
		path := make(plotter.XYs, len(points))
		for i, point := range points {
			path[i] = plotter.XY{X: point.Mean, Y: point.True}
		}
		paths = append(paths, path)
	}
	paths.Plot(c, p)
	x, y := p.Transforms(&c)
	c.StrokeLine2(line(muted, 1, vg.Points(5), vg.Points(4)), x(0), y(0), x(1), y(1))
	for i, points := range cs {
		all := 0
		for _, point := range points {
			all += point.Count
		}
		for _, point := range points {
			dot := draw.GlyphStyle{Color: shade(i), Radius: largest * vg.Length(math.Sqrt(float64(point.Count)/float64(all))), Shape: draw.CircleGlyph{}}
			c.DrawGlyph(dot, vg.Point{X: x(point.Mean), Y: y(point.True)})
		}
	}
}
