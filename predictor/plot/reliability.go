package plot

import (
	"fmt"
	"io"
	"math"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
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
	p := newAxes(r.Title, "probability forecast", "share that came true")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.X.Marker, p.Y.Marker = percentTicks{}, percentTicks{}
	p.Add(curves, names)
	return write(w, format, p.Draw)
}

// curves has the points of several forecasters.
type curves [][]score.Point

// largest is the radius, in points, of a dot with all probabilities.
const largest = 14

// Draw implements axes.Layer.
func (cs curves) Draw(c sheet.Canvas, p *axes.Plot) {
	var paths lines
	for _, points := range cs {
		path := make([]sheet.Point, len(points))
		for i, point := range points {
			path[i] = sheet.Point{X: point.Mean, Y: point.True}
		}
		paths = append(paths, path)
	}
	paths.Draw(c, p)
	x, y := p.Places(&c)
	c.Straight(line(muted, 1, 5, 4), x(0), y(0), x(1), y(1))
	for i, points := range cs {
		all := 0
		for _, point := range points {
			all += point.Count
		}
		for _, point := range points {
			radius := largest * math.Sqrt(float64(point.Count)/float64(all))
			c.Dot(shade(i), radius, sheet.Point{X: x(point.Mean), Y: y(point.True)})
		}
	}
}
