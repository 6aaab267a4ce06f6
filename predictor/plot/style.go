package plot

import (
	"image/color"

	"github.com/varq-project/varq/predictor/plot/sheet"
)

// The colours: blue for the forecast, orange for the plan, and greys.
var (
	ink   = color.NRGBA{0x22, 0x2b, 0x36, 0xff}
	muted = color.NRGBA{0x5b, 0x66, 0x73, 0xff}
	faint = color.NRGBA{0xc9, 0xd0, 0xd8, 0xff}
	grid  = color.NRGBA{0xe8, 0xec, 0xf0, 0xff}
	band  = color.NRGBA{0xf6, 0xf8, 0xfa, 0xff}
	blue  = color.NRGBA{0x1f, 0x5f, 0xa8, 0xff}
	// under a probability that meets the one asked for
	enough  = color.NRGBA{0xd3, 0xe3, 0xf4, 0xff}
	orange  = color.NRGBA{0xc6, 0x4f, 0x00, 0xff}
	paper   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	overlay = color.NRGBA{0xff, 0xff, 0xff, 0xe8} // behind a label
)

// palette has the colours of lines. After the first, related colours come in pairs.
var palette = []color.NRGBA{ink, orange, blue, {0xf0, 0xa3, 0x6b, 0xff}, {0x7f, 0xb2, 0xe5, 0xff}, {0x3c, 0x8c, 0x4a, 0xff}, {0x8a, 0x5a, 0xa8, 0xff}, {0x9a, 0x7d, 0x1e, 0xff}}

// shade returns the colour of the i-th line.
func shade(i int) color.NRGBA { return palette[i%len(palette)] }

// words returns how a text looks. Across and up are as in sheet.Words.
func words(size float64, c color.NRGBA, across, up float64) sheet.Words {
	return sheet.Words{Colour: c, Size: size, Across: across, Up: up}
}

// line returns a pen, whose lines are dashed if dashes are given.
func line(c color.NRGBA, points float64, dashes ...float64) sheet.Pen {
	return sheet.Pen{Colour: c, Width: points, Dashes: dashes}
}
