package plot

import (
	"fmt"
	"io"
	"math"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Coverage is a picture of the coverage of quantiles by month. It has a row for each quantile, with
// a line for each method. A band of ±.05 marks the quantile itself.
type Coverage struct {
	Title     string
	Quantiles []float64
	Months    []string // "2006-01", in order
	Least     int      // the least number of jobs of these months
	Methods   []Covered
}

// Covered is the coverage by a named method.
type Covered struct {
	Name   string
	Months [][]float64 // of each month, by quantile
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (v *Coverage) Write(w io.Writer, format string) error {
	if len(v.Methods) == 0 || len(v.Quantiles) == 0 {
		return fmt.Errorf("%w: nothing was scored", ErrNothing)
	}
	if len(v.Months) == 0 {
		return fmt.Errorf("%w: no month has %d jobs", ErrNothing, v.Least)
	}
	var names key
	for _, m := range v.Methods {
		names = append(names, m.Name)
	}
	var rows []*axes.Plot
	for i := range v.Quantiles {
		rows = append(rows, v.row(i))
	}
	rows[0].Add(names)
	return write(w, format, func(c sheet.Canvas) { axes.Stack(c, 6, rows...) })
}

// row returns the row of the i-th quantile. The first row has the title, and the last row
// the months.
func (v *Coverage) row(i int) *axes.Plot {
	q := v.Quantiles[i]
	title := ""
	if i == 0 {
		title = v.Title
	}
	p := newAxes(title, "", fmt.Sprint(q))
	low, high := q-.1, q+.1
	var paths lines
	for _, m := range v.Methods {
		path := make([]sheet.Point, len(v.Months))
		for k := range v.Months {
			covered := m.Months[k][i]
			low, high = min(low, covered), max(high, covered)
			path[k] = sheet.Point{X: float64(k), Y: covered}
		}
		paths = append(paths, path)
	}
	p.Y.Min, p.Y.Max = max(0, math.Floor(low*10)/10), min(1, math.Ceil(high*10)/10)
	p.X.Min, p.X.Max = -.5, float64(len(v.Months))-.5
	p.X.Marker = monthTicks{months: v.Months, labelled: i == len(v.Quantiles)-1}
	ticks := axes.Ticks{{Value: p.Y.Min, Label: percent(p.Y.Min)}, {Value: q, Label: percent(q)}}
	if p.Y.Max-q > (p.Y.Max-p.Y.Min)/4 { // there is room
		ticks = append(ticks, axes.Tick{Value: p.Y.Max, Label: percent(p.Y.Max)})
	}
	p.Y.Marker = ticks
	p.Add(nearly(q), paths)
	return p
}

// nearly shades the band within .05 of a quantile.
type nearly float64

// Draw implements axes.Layer.
func (q nearly) Draw(c sheet.Canvas, p *axes.Plot) {
	_, y := p.Places(&c)
	low, high := y(max(p.Y.Min, float64(q)-.05)), y(min(p.Y.Max, float64(q)+.05))
	c.Fill(enough, []sheet.Point{{X: c.Min.X, Y: low}, {X: c.Max.X, Y: low}, {X: c.Max.X, Y: high}, {X: c.Min.X, Y: high}})
	c.Straight(line(blue, 1.75), c.Min.X, y(float64(q)), c.Max.X, y(float64(q)))
}

// monthTicks labels 0, 1, ... with months, or draws only the ticks.
type monthTicks struct {
	months   []string
	labelled bool
}

// Ticks returns as many labels as there is room for.
func (m monthTicks) Ticks(float64, float64) []axes.Tick {
	every := int(math.Ceil(float64(len(m.months)) / mostTicks))
	var ticks []axes.Tick
	for i := 0; i < len(m.months); i += every {
		label := " "
		if m.labelled {
			label = m.months[i]
		}
		ticks = append(ticks, axes.Tick{Value: float64(i), Label: label})
	}
	return ticks
}
