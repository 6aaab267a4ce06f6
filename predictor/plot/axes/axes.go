// Package axes draws a title and two axes on a sheet. The layers of a plot draw data between the
// axes.
package axes

import (
	"image/color"
	"math"

	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Plot is a picture with two axes.
type Plot struct {
	Title  Label
	X, Y   Axis
	layers []Layer
}

// Layer draws data on the canvas between the axes of a plot.
type Layer interface {
	Draw(c sheet.Canvas, p *Plot)
}

// Label is a text beside an axis or above a plot. Without a text it takes no room.
type Label struct {
	Text  string
	Words sheet.Words
	Gap   float64 // between the text and what it is about
}

// Axis is the axis below, or on the left, where the words of its label are turned. It goes from Min
// to Max; if these are the same, from less to more.
type Axis struct {
	Min, Max float64
	Log      bool // equal factors are equally long; Min is greater than 0
	Label    Label
	Marker   Marker
	Ticks    sheet.Words // their labels
	Colour   color.NRGBA // of the ticks, and of the line
	// of a tick with a label; others are half as long; 0: there are only labels
	Length   float64
	Lineless bool // no line is drawn along the axis
}

// lineWidth is the width of axes and ticks.
const lineWidth = .5

// Marker chooses the ticks of an axis.
type Marker interface {
	// Ticks returns the ticks of an axis from low to high. Those beyond are not drawn.
	Ticks(low, high float64) []Tick
}

// Tick is a mark of an axis, with a label or without.
type Tick struct {
	Value float64
	Label string
}

// Ticks are a Marker with the same ticks whatever the range.
type Ticks []Tick

// Ticks implements Marker.
func (t Ticks) Ticks(float64, float64) []Tick { return t }

// Add adds layers, on top of those before.
func (p *Plot) Add(layers ...Layer) { p.layers = append(p.layers, layers...) }

// Places returns functions that tell where on the canvas between the axes a number is.
func (p *Plot) Places(c *sheet.Canvas) (x, y func(float64) float64) {
	return func(v float64) float64 { return c.X(p.X.share(v)) }, func(v float64) float64 { return c.Y(p.Y.share(v)) }
}

// share returns which share of the axis lies before v.
func (a *Axis) share(v float64) float64 {
	if !a.Log {
		return (v - a.Min) / (a.Max - a.Min)
	}
	low := math.Log(a.Min)
	return (math.Log(v) - low) / (math.Log(a.Max) - low)
}

// labelled returns the ticks, and those with a label.
func (a *Axis) labelled() (all, some []Tick) {
	all = a.Marker.Ticks(a.Min, a.Max)
	for _, t := range all {
		if t.Label != "" {
			some = append(some, t)
		}
	}
	return all, some
}

// from returns where a tick begins on its length.
func (a *Axis) from(t Tick) float64 {
	if t.Label == "" {
		return a.Length / 2
	}
	return 0
}

// spread makes the range of an axis one of more than a number.
func (a *Axis) spread() {
	if a.Min == a.Max {
		a.Min--
		a.Max++
	}
}

// Grid draws lines at the ticks with labels, across the canvas between the axes and up.
func (p *Plot) Grid(c sheet.Canvas, pen sheet.Pen, up, across bool) {
	x, y := p.Places(&c)
	if _, ticks := p.X.labelled(); up {
		for _, t := range ticks {
			if at := x(t.Value); at >= c.Min.X && at <= c.Max.X {
				c.Straight(pen, at, c.Min.Y, at, c.Max.Y)
			}
		}
	}
	if _, ticks := p.Y.labelled(); across {
		for _, t := range ticks {
			if at := y(t.Value); at >= c.Min.Y && at <= c.Max.Y {
				c.Straight(pen, c.Min.X, at, c.Max.X, at)
			}
		}
	}
}
