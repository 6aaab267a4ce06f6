package plot

import (
	"fmt"
	"io"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/varq-project/varq/predictor/trial/backtest"
)

// Coverage is a picture of the coverage of quantiles by month. It has a row for each
// quantile, with the coverage in every busy month of the log and a line for each method. A
// band of ±.05 marks the quantile itself.
type Coverage struct {
	Title  string
	Scores []backtest.Score // of the same jobs and quantiles
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (v *Coverage) Write(w io.Writer, format string) error {
	if len(v.Scores) == 0 || len(v.Scores[0].Quantiles) == 0 {
		return fmt.Errorf("%w: nothing was scored", ErrNothing)
	}
	var busy []int // indices of months
	for i, m := range v.Scores[0].Months {
		if m.Jobs >= backtest.BusyMonth {
			busy = append(busy, i)
		}
	}
	if len(busy) == 0 {
		return fmt.Errorf("%w: no month has %d jobs", ErrNothing, backtest.BusyMonth)
	}
	var names key
	for _, s := range v.Scores {
		names = append(names, s.Method)
	}
	var rows [][]*gonum.Plot
	for i := range v.Scores[0].Quantiles {
		rows = append(rows, []*gonum.Plot{v.row(i, busy)})
	}
	rows[0][0].Add(names)
	return write(w, format, func(c draw.Canvas) {
		tiles := gonum.Align(rows, draw.Tiles{Rows: len(rows), Cols: 1, PadY: vg.Points(6)}, c)
		for i, row := range rows {
			row[0].Draw(tiles[i][0])
		}
	})
}

// row returns the row of the i-th quantile. The first row has the title, and the last row
// the months.
func (v *Coverage) row(i int, busy []int) *gonum.Plot {
	first := &v.Scores[0]
	q := first.Quantiles[i].Quantile
	title := ""
	if i == 0 {
		title = v.Title
	}
	p := axes(title, "", fmt.Sprint(q))
	low, high := q-.1, q+.1
	var paths lines
	for _, s := range v.Scores {
		path := make(plotter.XYs, len(busy))
		for k, month := range busy {
			covered := s.Months[month].Coverage[i]
			low, high = min(low, covered), max(high, covered)
			path[k] = plotter.XY{X: float64(k), Y: covered}
		}
		paths = append(paths, path)
	}
	p.Y.Min, p.Y.Max = max(0, math.Floor(low*10)/10), min(1, math.Ceil(high*10)/10)
	p.X.Min, p.X.Max = -.5, float64(len(busy))-.5
	months := monthTicks{labelled: i == len(first.Quantiles)-1}
	for _, month := range busy {
		months.months = append(months.months, first.Months[month].Month)
	}
	p.X.Tick.Marker = months
	ticks := gonum.ConstantTicks{{Value: p.Y.Min, Label: percent(p.Y.Min)}, {Value: q, Label: percent(q)}}
	if p.Y.Max-q > (p.Y.Max-p.Y.Min)/4 { // there is room
		ticks = append(ticks, gonum.Tick{Value: p.Y.Max, Label: percent(p.Y.Max)})
	}
	p.Y.Tick.Marker = ticks
	p.Add(nearly(q), paths)
	return p
}

// nearly shades the band within .05 of a quantile.
type nearly float64

// Plot implements gonum's Plotter.
func (q nearly) Plot(c draw.Canvas, p *gonum.Plot) {
	_, y := p.Transforms(&c)
	low, high := y(max(p.Y.Min, float64(q)-.05)), y(min(p.Y.Max, float64(q)+.05))
	c.FillPolygon(enough, []vg.Point{{X: c.Min.X, Y: low}, {X: c.Max.X, Y: low}, {X: c.Max.X, Y: high}, {X: c.Min.X, Y: high}})
	c.StrokeLine2(line(blue, 1.75), c.Min.X, y(float64(q)), c.Max.X, y(float64(q)))
}

// monthTicks labels 0, 1, ... with months, or draws only the ticks.
type monthTicks struct {
	months   []string
	labelled bool
}

// Ticks returns as many labels as there is room for.
func (m monthTicks) Ticks(float64, float64) []gonum.Tick {
	every := int(math.Ceil(float64(len(m.months)) / mostTicks))
	var ticks []gonum.Tick
	for i := 0; i < len(m.months); i += every {
		label := " "
		if m.labelled {
			label = m.months[i]
		}
		ticks = append(ticks, gonum.Tick{Value: float64(i), Label: label})
	}
	return ticks
}
