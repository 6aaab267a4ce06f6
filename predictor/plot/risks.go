package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// Risks is a reliability diagram of small probabilities, with a curve for each forecaster. Both axes are logarithmic. A
// dot shows the risks of one bin: their mean, and the share of them that came true, of the first curve with its interval.
// The dot grows with the number of these risks.
type Risks struct {
	Title  string
	Curves []RiskCurve
}

// RiskCurve is the reliability of a named forecaster.
type RiskCurve struct {
	Name   string
	Points []score.RiskPoint
}

// leastRisk is where the axes begin. What is less, or 0, is drawn there.
const leastRisk = 1e-5

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (r *Risks) Write(w io.Writer, format string) error {
	var curves riskCurves
	var names key
	for _, c := range r.Curves {
		if len(c.Points) > 0 {
			curves, names = append(curves, c.Points), append(names, c.Name)
		}
	}
	if curves == nil {
		return fmt.Errorf("%w: no risk was forecast", ErrNothing)
	}
	p := axes(r.Title, "risk forecast", "share that came true")
	for _, a := range []*gonum.Axis{&p.X, &p.Y} {
		a.Min, a.Max, a.Scale, a.Tick.Marker = leastRisk, 1, gonum.LogScale{}, decades{}
	}
	p.Add(curves, names)
	return write(w, format, p.Draw)
}

// decades labels powers of ten in per cent.
type decades struct{}

// Ticks returns a tick for each power of ten from low to high.
func (decades) Ticks(low, high float64) []gonum.Tick {
	var ticks []gonum.Tick
	for n := math.Round(math.Log10(low)); n <= math.Log10(high); n++ {
		at := math.Pow(10, n)
		ticks = append(ticks, gonum.Tick{Value: at, Label: strconv.FormatFloat(100*at, 'g', 3, 64) + " %"})
	}
	return ticks
}

// riskCurves has the points of several forecasters.
type riskCurves [][]score.RiskPoint

// Plot implements gonum's Plotter.
func (cs riskCurves) Plot(c draw.Canvas, p *gonum.Plot) {
	var paths lines
	for _, points := range cs {
		path := make(plotter.XYs, len(points))
		for i, point := range points {
			path[i] = plotter.XY{X: max(point.Mean, leastRisk), Y: max(point.True, leastRisk)}
		}
		paths = append(paths, path)
	}
	paths.Plot(c, p)
	x, y := p.Transforms(&c)
	c.StrokeLine2(line(muted, 1, vg.Points(5), vg.Points(4)), x(leastRisk), y(leastRisk), x(1), y(1))
	for i, points := range cs {
		for k, point := range points {
			at := vg.Point{X: x(paths[i][k].X), Y: y(paths[i][k].Y)}
			if i == 0 {
				c.StrokeLine2(line(shade(i), .75), at.X, y(max(point.Low, leastRisk)), at.X, y(max(point.High, leastRisk)))
			}
			c.DrawGlyph(draw.GlyphStyle{Color: shade(i), Radius: vg.Length(2 + math.Log10(float64(max(1, point.Count)))), Shape: draw.CircleGlyph{}}, at)
		}
	}
}
