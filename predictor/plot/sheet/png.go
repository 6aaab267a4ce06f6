package sheet

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// perPoint is the number of pixels of a point: of an inch they are 144.
const perPoint = 2

// painter paints a picture of pixels.
type painter struct {
	*image.RGBA
	width, height float64
}

func (s *Sheet) writePNG(w io.Writer) error {
	size := image.Rect(0, 0, int(math.Round(perPoint*s.width)), int(math.Round(perPoint*s.height)))
	p := &painter{image.NewRGBA(size), s.width, s.height}
	for _, m := range s.marks {
		m.paint(p)
	}
	return png.Encode(w, p)
}

// outline is what encloses some of the paper, by its winding number. Curves have one place between
// their ends, which draws them to itself.
type outline struct{ parts []part }

type part struct {
	from, to Point
	by       *Point
}

func (o *outline) polygon(corners ...Point) {
	for i, c := range corners {
		o.parts = append(o.parts, part{from: c, to: corners[(i+1)%len(corners)]})
	}
}

// disc adds a disc, as a polygon.
func (o *outline) disc(centre Point, radius float64) {
	const corners = 48
	var all [corners]Point
	for i := range all {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		all[i] = centre.Plus(Point{radius * cos, radius * sin})
	}
	o.polygon(all[:]...)
}

// fill fills what is within an outline.
func (p *painter) fill(c color.NRGBA, o *outline) {
	// Pixels count down. What is far beyond the paper need not be exact.
	pixel := func(at Point) Point {
		return Point{
			perPoint * max(-p.width, min(at.X, 2*p.width)),
			perPoint * (p.height - max(-p.height, min(at.Y, 2*p.height))),
		}
	}
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	reach := func(at Point) {
		low = Point{min(low.X, at.X), min(low.Y, at.Y)}
		high = Point{max(high.X, at.X), max(high.Y, at.Y)}
	}
	for _, part := range o.parts {
		reach(pixel(part.from))
		reach(pixel(part.to))
		if part.by != nil {
			reach(pixel(*part.by))
		}
	}
	if !(low.X <= high.X && low.Y <= high.Y) {
		return
	}
	box := image.Rect(int(math.Floor(low.X)), int(math.Floor(low.Y)), int(math.Ceil(high.X))+1, int(math.Ceil(high.Y))+1)
	z := vector.NewRasterizer(box.Dx(), box.Dy())
	within := func(at Point) (x, y float32) {
		at = pixel(at)
		return float32(at.X - float64(box.Min.X)), float32(at.Y - float64(box.Min.Y))
	}
	for _, part := range o.parts {
		z.MoveTo(within(part.from))
		if part.by == nil {
			z.LineTo(within(part.to))
			continue
		}
		x, y := within(*part.by)
		toX, toY := within(part.to)
		z.QuadTo(x, y, toX, toY)
	}
	mask := image.NewAlpha(image.Rectangle{Max: box.Size()})
	z.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})
	draw.DrawMask(p, box, image.NewUniform(c), image.Point{}, mask, image.Point{}, draw.Over)
}

func (g polygon) paint(p *painter) {
	var o outline
	o.polygon(g.corners...)
	p.fill(g.colour, &o)
}

func (d dot) paint(p *painter) {
	var o outline
	o.disc(d.centre, d.radius)
	p.fill(d.colour, &o)
}

// A line is a bar from each place to the next, and a disc where two bars meet.
func (l line) paint(p *painter) {
	var o outline
	for _, dash := range dashed(l.places, l.Dashes) {
		for i := 1; i < len(dash); i++ {
			from, to := dash[i-1], dash[i]
			length := math.Hypot(to.X-from.X, to.Y-from.Y)
			if length == 0 {
				continue
			}
			aside := Point{-(to.Y - from.Y) / length * l.Width / 2, (to.X - from.X) / length * l.Width / 2}
			back := Point{-aside.X, -aside.Y}
			// Against the clock, as discs are.
			o.polygon(from.Plus(back), to.Plus(back), to.Plus(aside), from.Plus(aside))
			if i > 1 {
				o.disc(from, l.Width/2)
			}
		}
	}
	p.fill(l.Colour, &o)
}

// dashed returns the parts of a line that are drawn.
func dashed(places []Point, lengths []float64) [][]Point {
	if len(lengths) == 0 {
		return [][]Point{places}
	}
	var dashes [][]Point
	dash := []Point{places[0]}
	turn, left := 0, lengths[0] // of the lengths, and what is left of it
	for i := 1; i < len(places); i++ {
		from, to := places[i-1], places[i]
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		at := 0.
		for length-at > left {
			at += left
			on := at / length
			end := Point{from.X + on*(to.X-from.X), from.Y + on*(to.Y-from.Y)}
			if turn%2 == 0 {
				dashes = append(dashes, append(dash, end))
			}
			dash = []Point{end}
			turn++
			left = lengths[turn%len(lengths)]
		}
		left -= length - at
		dash = append(dash, to)
	}
	if turn%2 == 0 {
		dashes = append(dashes, dash)
	}
	return dashes
}

func (t written) paint(p *painter) {
	f := t.face()
	glyphs, _ := f.glyphs(t.text)
	var buffer sfnt.Buffer
	var o outline
	for _, g := range glyphs {
		segments, err := f.LoadGlyph(&buffer, g.index, f.units, nil)
		if err != nil {
			continue // a letter without an outline
		}
		place := func(i int, s *sfnt.Segment) Point {
			x := t.at.X + float64(g.at+s.Args[i].X)*t.scale()
			y := t.at.Y - float64(s.Args[i].Y)*t.scale()
			if t.Turned {
				return Point{-y, x}
			}
			return Point{x, y}
		}
		var start, here Point
		for i := range segments {
			switch s := &segments[i]; s.Op {
			case sfnt.SegmentOpMoveTo:
				if i > 0 {
					o.parts = append(o.parts, part{from: here, to: start})
				}
				start, here = place(0, s), place(0, s)
			case sfnt.SegmentOpLineTo:
				o.parts = append(o.parts, part{from: here, to: place(0, s)})
				here = place(0, s)
			case sfnt.SegmentOpQuadTo:
				by := place(0, s)
				o.parts = append(o.parts, part{here, place(1, s), &by})
				here = place(1, s)
			}
		}
		if len(segments) > 0 {
			o.parts = append(o.parts, part{from: here, to: start})
		}
	}
	p.fill(t.Colour, &o)
}
