package plot

import (
	"slices"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// lines draws a line for each path over a grid, in the colours of the palette. The first
// line is on top.
type lines [][]sheet.Point

// Draw implements axes.Layer.
func (l lines) Draw(c sheet.Canvas, p *axes.Plot) {
	p.Grid(c, line(grid, .75), true, true)
	x, y := p.Places(&c)
	for i, path := range slices.Backward(l) {
		places := make([]sheet.Point, len(path))
		for k, at := range path {
			places[k] = sheet.Point{X: x(at.X), Y: y(at.Y)}
		}
		c.Line(line(shade(i), 1.25), places)
	}
}

// key writes the names of the lines above a picture, from left to right. It writes nothing
// for a single line.
type key []string

// Draw implements axes.Layer.
func (k key) Draw(c sheet.Canvas, _ *axes.Plot) {
	if len(k) < 2 {
		return
	}
	style := words(9, ink, 0, .5)
	at := sheet.Point{X: c.Min.X, Y: c.Max.Y + 10}
	for i, name := range k {
		end := at.X + 16
		c.Straight(line(shade(i), 2.5), at.X, at.Y, end, at.Y)
		at.X = end + 5
		c.Words(style, at, name)
		at.X += style.Width(name) + 18
	}
}
