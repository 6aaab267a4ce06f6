package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Risks is a reliability diagram of small probabilities, with a curve for each forecaster. Both
// axes are logarithmic. A dot shows the risks of one bin: their mean, and the share of them that
// came true, of the first curve with its interval. The dot grows with the number of these risks.
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
	p := newAxes(r.Title, "risk forecast", "share that came true")
	for _, a := range []*axes.Axis{&p.X, &p.Y} {
		a.Min, a.Max, a.Log, a.Marker = leastRisk, 1, true, decades{}
	}
	p.Add(curves, names)
	return write(w, format, p.Draw)
}

// decades labels powers of ten in per cent.
type decades struct{}

// Ticks returns a tick for each power of ten from low to high.
func (decades) Ticks(low, high float64) []axes.Tick {
	var ticks []axes.Tick
	for n := math.Round(math.Log10(low)); n <= math.Log10(high); n++ {
		at := math.Pow(10, n)
		ticks = append(ticks, axes.Tick{Value: at, Label: strconv.FormatFloat(100*at, 'g', 3, 64) + " %"})
	}
	return ticks
}

// riskCurves has the points of several forecasters.
type riskCurves [][]score.RiskPoint

// Draw implements axes.Layer.
func (cs riskCurves) Draw(c sheet.Canvas, p *axes.Plot) {
	var paths lines
	for _, points := range cs {
		path := make([]sheet.Point, len(points))
		for i, point := range points {
			path[i] = sheet.Point{X: max(point.Mean, leastRisk), Y: max(point.True, leastRisk)}
		}
		paths = append(paths, path)
	}
	paths.Draw(c, p)
	x, y := p.Places(&c)
	c.Straight(line(muted, 1, 5, 4), x(leastRisk), y(leastRisk), x(1), y(1))
	for i, points := range cs {
		for k, point := range points {
			at := sheet.Point{X: x(paths[i][k].X), Y: y(paths[i][k].Y)}
			if i == 0 {
				c.Straight(line(shade(i), .75), at.X, y(max(point.Low, leastRisk)), at.X, y(max(point.High, leastRisk)))
			}
			c.Dot(shade(i), 2+math.Log10(float64(max(1, point.Count))), at)
		}
	}
}
