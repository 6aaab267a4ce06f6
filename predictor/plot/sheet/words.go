package sheet

import (
	"errors"
	"fmt"
	"image/color"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Words is how words look, in Liberation Sans.
type Words struct {
	Colour color.NRGBA
	Size   float64
	Bold   bool
	// Across and Up are the parts of the words' width and height by which they are moved from their
	// place to the left and down: of 0, .5 and 1.
	Across, Up float64
	Turned     bool // a quarter to the left: they are read from below
}

// Lines of words are separated by \n, but for those at the end.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// Extents is how far a font reaches from the line that its letters stand on.
type Extents struct {
	Ascent, Descent float64
	Height          float64 // from a line to the next, at least
}

// Extents returns those of the font.
func (w Words) Extents() Extents {
	f := w.face()
	return Extents{f.ascent * w.scale(), f.descent * w.scale(), f.height * w.scale()}
}

// Width returns the width of the longest line of a text.
func (w Words) Width(text string) float64 {
	width := 0.
	for _, line := range lines(text) {
		width = max(width, w.face().width(line)*w.scale())
	}
	return width
}

// Height returns the height of all lines of a text.
func (w Words) Height(text string) float64 {
	e := w.Extents()
	height := 0.
	for i := range lines(text) {
		height += e.Ascent + e.Descent
		if i > 0 {
			height += e.Height - e.Ascent - e.Descent
		}
	}
	return height
}

// Area returns the place that a text takes, if its own place is the origin.
func (w Words) Area(text string) Area {
	e := w.Extents()
	width, height := w.Width(text), w.Height(text)
	left, low := -w.Across*width, -w.Up*height-(e.Height-e.Ascent)
	if w.Turned {
		return Area{Point{-(height + low), left}, Point{-low, width + left}}
	}
	return Area{Point{left, low}, Point{width + left, height + low}}
}

// Words writes a text at a place.
func (c Canvas) Words(w Words, at Point, text string) {
	if w.Turned {
		at = Point{at.Y, -at.X} // in a system that is turned with them
	}
	all := lines(text)
	if len(all) == 1 && all[0] == "" {
		return
	}
	at.Y += -w.Up*w.Height(text) - w.Extents().Ascent
	for i, line := range all {
		left := -w.Across * w.face().width(line) * w.scale()
		c.add(written{w, at.Plus(Point{left, float64(len(all)-i) * w.Size}), line})
	}
}

// written is a line of words. Its place is in a system that is turned with it.
type written struct {
	Words
	at   Point
	text string
}

// face is a font, with lengths in its own units.
type face struct {
	*sfnt.Font
	units                   fixed.Int26_6 // of the size of the font
	ascent, descent, height float64
}

var (
	regular = sync.OnceValue(func() *face { return newFace(liberationsansregular.TTF) })
	bold    = sync.OnceValue(func() *face { return newFace(liberationsansbold.TTF) })
)

// newFace reads a font, which must be sound.
func newFace(data []byte) *face {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic(fmt.Errorf("the font: %w", err))
	}
	units := fixed.Int26_6(f.UnitsPerEm())
	metrics, err := f.Metrics(nil, units, font.HintingNone)
	if err != nil {
		panic(fmt.Errorf("the font's measures: %w", err))
	}
	return &face{f, units, float64(metrics.Ascent), float64(metrics.Descent), float64(metrics.Height)}
}

func (w Words) face() *face {
	if w.Bold {
		return bold()
	}
	return regular()
}

// scale returns the length of a unit of the font.
func (w Words) scale() float64 { return w.Size / float64(w.face().units) }

func (f *face) width(text string) float64 {
	_, width := f.glyphs(text)
	return float64(width)
}

// glyph is a letter, and how far to the right it stands.
type glyph struct {
	index sfnt.GlyphIndex
	at    fixed.Int26_6
}

// glyphs returns the letters of a line, and its width.
func (f *face) glyphs(text string) (all []glyph, width fixed.Int26_6) {
	var buffer sfnt.Buffer
	for _, letter := range text {
		index, err := f.GlyphIndex(&buffer, letter)
		if err != nil {
			panic(fmt.Errorf("the font's letter %q: %w", letter, err))
		}
		if len(all) > 0 {
			nearer, err := f.Kern(&buffer, all[len(all)-1].index, index, f.units, font.HintingNone)
			if err != nil && !errors.Is(err, sfnt.ErrNotFound) {
				panic(fmt.Errorf("the font's letter %q: %w", letter, err))
			}
			if err == nil {
				width += nearer
			}
		}
		advance, err := f.GlyphAdvance(&buffer, index, f.units, font.HintingNone)
		if err != nil {
			panic(fmt.Errorf("the font's letter %q: %w", letter, err))
		}
		all = append(all, glyph{index, width})
		width += advance
	}
	return all, width
}
