package plot

import (
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines draws a line for each path over a grid, in the colours of the palette. The first
// line is on top.
type lines []plotter.XYs

// Plot implements gonum's Plotter.
func (l lines) Plot(c draw.Canvas, p *gonum.Plot) {
	g := plotter.Grid{Vertical: line(grid, .75), Horizontal: line(grid, .75)}
	g.Plot(c, p)
	for i, path := range slices.Backward(l) {
		drawn := plotter.Line{XYs: path, LineStyle: line(shade(i), 1.25)}
		drawn.Plot(c, p)
	}
}

// key writes the names of the lines above a picture, from left to right. It writes nothing
// for a single line.
type key []string

// Plot implements gonum's Plotter.
func (k key) Plot(c draw.Canvas, _ *gonum.Plot) {
	if len(k) < 2 {
		return
	}
	style := words(9, ink, text.XLeft, text.YCenter)
	at := vg.Point{X: c.Min.X, Y: c.Max.Y + vg.Points(10)}
	for i, name := range k {
		end := at.X + vg.Points(16)
		c.StrokeLine2(line(shade(i), 2.5), at.X, at.Y, end, at.Y)
		at.X = end + vg.Points(5)
		c.FillText(style, at, name)
		at.X += style.Width(name) + vg.Points(18)
	}
}
