package plot

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Figure is a picture of groups of bars if it has labels, else of lines.
type Figure struct {
	Title  string
	X, Y   string   // labels of the axes, with their units
	Labels []string // of the groups of bars
	Series []Series
	// Near is true of lines whose vertical axis spans their values alone, and does not begin at 0.
	Near bool
}

// Series is one line, or one colour of bars.
type Series struct {
	Name string
	X    []float64 // empty for bars
	Y    []float64
}

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
func (f Figure) Write(w io.Writer, format string) error {
	p := newAxes(f.Title, f.X, f.Y)
	var err error
	if len(f.Labels) > 0 {
		err = f.addBars(p)
	} else {
		err = f.addLines(p)
	}
	if err != nil {
		return err
	}
	var names key
	for _, s := range f.Series {
		names = append(names, s.Name)
	}
	p.Add(names)
	return write(w, format, p.Draw)
}

var errNothing = fmt.Errorf("%w: the figure is empty", ErrNothing)

// addLines adds the series as lines, and leaves room for them.
func (f Figure) addLines(p *axes.Plot) error {
	var paths lines
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		path := make([]sheet.Point, min(len(s.X), len(s.Y)))
		for i := range path {
			path[i] = sheet.Point{X: s.X[i], Y: s.Y[i]}
			low, high = min(low, s.X[i]), max(high, s.X[i])
		}
		paths = append(paths, path)
	}
	if !(low < high) {
		return errNothing
	}
	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = f.heights()
	p.Add(paths)
	return nil
}

// addBars adds the series as bars side by side over each label.
func (f Figure) addBars(p *axes.Plot) error {
	if len(f.Series) == 0 {
		return errNothing
	}
	ticks := make([]axes.Tick, len(f.Labels))
	for i, label := range f.Labels {
		ticks[i] = axes.Tick{Value: float64(i), Label: label}
	}
	p.X.Marker = axes.Ticks(ticks)
	p.X.Length = 0
	p.X.Min, p.X.Max = -.5, float64(len(f.Labels))-.5
	p.Y.Min, p.Y.Max = f.heights()
	p.Add(bars(f.Series))
	return nil
}

// heights returns the range of the vertical axis: from 0, or if the figure is Near from the least
// value, to a little more than the values.
func (f Figure) heights() (low, high float64) {
	if f.Near {
		return f.near()
	}
	for _, s := range f.Series {
		for _, y := range s.Y {
			low, high = min(low, y), max(high, y)
		}
	}
	if low == high {
		return 0, 1
	}
	const margin = 1.05
	return low * margin, high * margin
}

// near returns the range of the values, or one around them if they are equal.
func (f Figure) near() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		low, high = min(low, slices.Min(s.Y)), max(high, slices.Max(s.Y))
	}
	const least = .005
	margin := max(least, (high-low)/20)
	return low - margin, high + margin
}

// bars draws the first values of all series side by side around 0, the second
// ones around 1, and so on, over a grid.
type bars []Series

// Draw implements axes.Layer.
func (b bars) Draw(c sheet.Canvas, p *axes.Plot) {
	p.Grid(c, line(grid, .75), false, true)
	x, y := p.Places(&c)
	const group = .8 // of the way from one group to the next
	width := group / float64(len(b))
	for i, s := range b {
		for k, value := range s.Y {
			left := float64(k) - group/2 + float64(i)*width
			c.Fill(shade(i), []sheet.Point{
				{X: x(left), Y: y(0)}, {X: x(left + width), Y: y(0)}, {X: x(left + width), Y: y(value)}, {X: x(left), Y: y(value)},
			})
		}
	}
	c.Straight(line(muted, .75), c.Min.X, y(0), c.Max.X, y(0))
}
