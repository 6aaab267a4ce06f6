package plot

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours: blue for the forecast, orange for the plan, and greys.
var (
	ink     = color.NRGBA{0x22, 0x2b, 0x36, 0xff}
	muted   = color.NRGBA{0x5b, 0x66, 0x73, 0xff}
	faint   = color.NRGBA{0xc9, 0xd0, 0xd8, 0xff}
	grid    = color.NRGBA{0xe8, 0xec, 0xf0, 0xff}
	band    = color.NRGBA{0xf6, 0xf8, 0xfa, 0xff}
	blue    = color.NRGBA{0x1f, 0x5f, 0xa8, 0xff}
	enough  = color.NRGBA{0xd3, 0xe3, 0xf4, 0xff} // under a probability that meets the one asked for
	orange  = color.NRGBA{0xc6, 0x4f, 0x00, 0xff}
	paper   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	overlay = color.NRGBA{0xff, 0xff, 0xff, 0xe8} // behind a label
)

// palette has the colours of lines. After the first, related colours come in pairs.
var palette = []color.NRGBA{ink, orange, blue, {0xf0, 0xa3, 0x6b, 0xff}, {0x7f, 0xb2, 0xe5, 0xff}, {0x3c, 0x8c, 0x4a, 0xff}, {0x8a, 0x5a, 0xa8, 0xff}, {0x9a, 0x7d, 0x1e, 0xff}}

// shade returns the colour of the i-th line.
func shade(i int) color.Color { return palette[i%len(palette)] }

// face returns the sans-serif font in a size in points.
func face(size float64, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

// words returns a style for text.
func words(size float64, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: c, Font: face(size, false), XAlign: x, YAlign: y, Handler: text.Plain{Fonts: font.DefaultCache}}
}

// line returns a style for lines, which are dashed if dashes are given.
func line(c color.Color, points float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(points), Dashes: dashes}
}
