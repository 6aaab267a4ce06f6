// Package sheet is a sheet of paper for areas, lines, dots and words. What is drawn later covers
// what was drawn before. A sheet is written as SVG or PNG. Lengths are points: 72 make an inch.
// Places are measured from the lower left corner, to the right and up.
package sheet

import (
	"fmt"
	"image/color"
	"io"
)

// Sheet has all that has been put on it.
type Sheet struct {
	width, height float64
	marks         []mark
}

// mark is one thing on a sheet.
type mark interface {
	svg(w *svgWriter)
	paint(p *painter)
}

// New returns a sheet with nothing on it.
func New(width, height float64) *Sheet { return &Sheet{width: width, height: height} }

// Canvas returns the whole sheet to put things on.
func (s *Sheet) Canvas() Canvas { return Canvas{Area{Max: Point{s.width, s.height}}, s} }

// Write writes the sheet in a format, "svg" or "png".
func (s *Sheet) Write(w io.Writer, format string) error {
	switch format {
	case "svg":
		return s.writeSVG(w)
	case "png":
		return s.writePNG(w)
	}
	return fmt.Errorf("no pictures in the format %q", format)
}

// Point is a place.
type Point struct{ X, Y float64 }

// Plus returns the place that is moved by q.
func (p Point) Plus(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Area is a rectangle.
type Area struct{ Min, Max Point }

// Plus returns the area that is moved by q.
func (a Area) Plus(q Point) Area { return Area{a.Min.Plus(q), a.Max.Plus(q)} }

// X returns the place of a share of the width.
func (a *Area) X(share float64) float64 { return share*(a.Max.X-a.Min.X) + a.Min.X }

// Y returns the place of a share of the height.
func (a *Area) Y(share float64) float64 { return share*(a.Max.Y-a.Min.Y) + a.Min.Y }

// Centre returns the place in the middle.
func (a *Area) Centre() Point {
	return Point{(a.Max.X-a.Min.X)/2 + a.Min.X, (a.Max.Y-a.Min.Y)/2 + a.Min.Y}
}

// rounding is by how much a place on the edge of an area may be off.
const rounding = 3e-8

// HasX reports whether the area has places that far to the right.
func (a *Area) HasX(x float64) bool { return x <= a.Max.X+rounding && x >= a.Min.X-rounding }

// HasY reports whether the area has places that far up.
func (a *Area) HasY(y float64) bool { return y <= a.Max.Y+rounding && y >= a.Min.Y-rounding }

// Canvas is a part of a sheet. What is put on it may reach beyond.
type Canvas struct {
	Area
	sheet *Sheet
}

// Within returns a part of the canvas.
func (c Canvas) Within(a Area) Canvas { return Canvas{a, c.sheet} }

// Crop returns the canvas without margins.
func (c Canvas) Crop(left, right, bottom, top float64) Canvas {
	return c.Within(Area{Point{c.Min.X + left, c.Min.Y + bottom}, Point{c.Max.X - right, c.Max.Y - top}})
}

func (c Canvas) add(m mark) { c.sheet.marks = append(c.sheet.marks, m) }

// Fill fills a polygon.
func (c Canvas) Fill(colour color.NRGBA, corners []Point) {
	if len(corners) > 0 {
		c.add(polygon{colour, corners})
	}
}

// Paint fills the canvas.
func (c Canvas) Paint(colour color.NRGBA) {
	c.Fill(colour, []Point{c.Min, {c.Max.X, c.Min.Y}, c.Max, {c.Min.X, c.Max.Y}})
}

// Pen draws lines.
type Pen struct {
	Colour color.NRGBA
	Width  float64
	Dashes []float64 // lengths of dashes and gaps in turn; none: the line has no gap
}

// Line draws a line from place to place.
func (c Canvas) Line(pen Pen, places []Point) {
	if len(places) > 1 {
		c.add(line{pen, places})
	}
}

// Straight draws a straight line.
func (c Canvas) Straight(pen Pen, fromX, fromY, toX, toY float64) {
	c.Line(pen, []Point{{fromX, fromY}, {toX, toY}})
}

// Dot draws a disc, if its centre is on the canvas.
func (c Canvas) Dot(colour color.NRGBA, radius float64, centre Point) {
	if c.HasX(centre.X) && c.HasY(centre.Y) {
		c.add(dot{colour, radius, centre})
	}
}

type polygon struct {
	colour  color.NRGBA
	corners []Point
}

type line struct {
	Pen
	places []Point
}

type dot struct {
	colour color.NRGBA
	radius float64
	centre Point
}
