package sheet

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
)

var (
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	blue  = color.NRGBA{0x1f, 0x5f, 0xa8, 0xff}
	red   = color.NRGBA{0xff, 0, 0, 0x80}
)

func TestSVG(t *testing.T) {
	s := New(100, 50.5)
	c := s.Canvas()
	c.Paint(white)
	c.Fill(red, []Point{{1, 2}, {3, 4}, {5, 1. / 3}})
	c.Straight(Pen{Colour: blue, Width: 2, Dashes: []float64{5, 4}}, 0, 0, 10, 20)
	c.Straight(Pen{Colour: red, Width: 1}, 0, 0, 10, 0)
	c.Dot(blue, 2, Point{50, 20})
	c.Dot(blue, 2, Point{101, 20}) // which is beyond
	c.Line(Pen{Colour: blue, Width: 1}, []Point{{1, 1}})
	c.Words(Words{Colour: blue, Size: 10}, Point{10, 20}, "a < b\n")
	c.Words(Words{Colour: blue, Size: 10, Bold: true, Turned: true}, Point{10, 20}, "up")
	c.Words(Words{Colour: blue, Size: 10}, Point{10, 20}, "")
	const words = `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;font-variant:normal;font-weight:`
	want := `<?xml version="1.0"?>
<svg width="100pt" height="50.5pt" viewBox="0 0 100 50.5"
	xmlns="http://www.w3.org/2000/svg"
	xmlns:xlink="http://www.w3.org/1999/xlink">
<g transform="scale(1, -1) translate(0, -50.5)">
<path d="M0,0L100,0L100,50.5L0,50.5Z" style="fill:#FFFFFF" />
<path d="M1,2L3,4L5,0.33333Z" style="fill:#FF0000;fill-opacity:0.50196" />
<path d="M0,0L10,20" style="fill:none;stroke:#1F5FA8;stroke-width:2;stroke-dasharray:5,4" />
<path d="M0,0L10,0" style="fill:none;stroke:#FF0000;stroke-opacity:0.50196" />
<path d="M52,20A2,2 0 1 1 48,20A2,2 0 1 1 52,20Z" style="fill:#1F5FA8" />
<text x="10" y="-20.947" transform="scale(1, -1)"
	` + words + `normal;font-style:normal;font-size:10px;fill:#1F5FA8">a &lt; b</text>
<g transform="rotate(90)">
<text x="20" y="9.0527" transform="scale(1, -1)"
	` + words + `bold;font-style:normal;font-size:10px;fill:#1F5FA8">up</text>
</g>
</g>
</svg>
`
	var got strings.Builder
	if err := s.Write(&got, "svg"); err != nil || got.String() != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, got.String(), want)
	}
	if err := s.Write(&got, "gif"); err == nil {
		t.Error("a GIF was drawn")
	}
}

// painted returns the picture of what is drawn on a white sheet of 100 by 50 points, which has 200
// by 100 pixels.
func painted(t *testing.T, draw func(Canvas)) image.Image {
	t.Helper()
	s := New(100, 50)
	s.Canvas().Paint(white)
	draw(s.Canvas())
	var b bytes.Buffer
	if err := s.Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if picture.Bounds() != image.Rect(0, 0, 200, 100) {
		t.Fatalf("the picture has %v", picture.Bounds())
	}
	return picture
}

// ink returns how much of an area in points is not white, in square points.
func ink(picture image.Image, a Area) float64 {
	sum := 0.
	for x := int(2 * a.Min.X); x < int(2*a.Max.X); x++ {
		for y := int(100 - 2*a.Max.Y); y < int(100-2*a.Min.Y); y++ {
			r, _, _, _ := picture.At(x, y).RGBA()
			sum += (1 - float64(r)/math.MaxUint16) / 4
		}
	}
	return sum
}

// TestPNG: everything takes as much ink as it has area, where it is.
func TestPNG(t *testing.T) {
	black := color.NRGBA{A: 0xff}
	whole := Area{Max: Point{100, 50}}
	for _, c := range []struct {
		name  string
		draw  func(Canvas)
		where Area
		area  float64
	}{
		{"a triangle", func(c Canvas) { c.Fill(black, []Point{{10, 10}, {30, 10}, {10, 40}}) }, Area{Point{10, 10}, Point{30, 40}}, 300},
		{"half of its ink", func(c Canvas) { c.Fill(color.NRGBA{A: 0x80}, []Point{{10, 10}, {30, 10}, {10, 40}}) }, whole, 300 * 128. / 255},
		{"a dot", func(c Canvas) { c.Dot(black, 10, Point{50, 20}) }, Area{Point{40, 10}, Point{60, 30}}, 100 * math.Pi},
		{"a bent line", func(c Canvas) { c.Line(Pen{Colour: black, Width: 2}, []Point{{10, 10}, {60, 10}, {60, 40}, {60, 40}}) }, Area{Point{10, 9}, Point{61, 40}}, 2*50 + 2*30 - 1 + math.Pi/4},
		{"dashes", func(c Canvas) {
			c.Line(Pen{Colour: black, Width: 2, Dashes: []float64{5, 4}}, []Point{{10, 10}, {46, 10}})
		}, Area{Point{10, 9}, Point{42, 11}}, 2 * 4 * 5},
		{"dashes around a corner", func(c Canvas) {
			c.Line(Pen{Colour: black, Width: 2, Dashes: []float64{10, 5}}, []Point{{10, 10}, {15, 10}, {15, 35}})
		}, whole, 2*20 - 1 + math.Pi/4},
		{"what reaches beyond the sheet", func(c Canvas) { c.Fill(black, []Point{{-1e9, -1e9}, {50, -1e9}, {50, 1e9}, {-1e9, 1e9}}) }, Area{Max: Point{50, 50}}, 2500},
		{"nowhere", func(c Canvas) { c.Fill(black, []Point{{math.NaN(), 1}}) }, whole, 0},
	} {
		picture := painted(t, c.draw)
		if got, all := ink(picture, c.where), ink(picture, whole); math.Abs(got-c.area) > .01*c.area+.3 || math.Abs(all-got) > .01*c.area {
			t.Errorf("%s: %.2f square points of ink where %.2f are due, and %.2f in all", c.name, got, c.area, all)
		}
	}
}

// TestWords: words are within the area that they say they take, whichever way they are moved and
// turned.
func TestWords(t *testing.T) {
	for _, across := range []float64{0, .5, 1} {
		for _, up := range []float64{0, .5, 1} {
			for _, turned := range []bool{false, true} {
				w := Words{Colour: color.NRGBA{A: 0xff}, Size: 8, Across: across, Up: up, Turned: turned}
				const text = "Hägar\nÅgy"
				at := Point{50, 25}
				picture := painted(t, func(c Canvas) { c.Words(w, at.Plus(Point{}), text) })
				area := w.Area(text).Plus(at)
				if turned {
					area = area.Plus(Point{w.Extents().Descent, 0})
				} else {
					area = area.Plus(Point{0, w.Extents().Descent})
				}
				area = Area{area.Min.Plus(Point{-1, -1}), area.Max.Plus(Point{1, 1})}
				all, within := ink(picture, Area{Max: Point{100, 50}}), ink(picture, area)
				if all < 20 || all-within > .02*all {
					t.Errorf("%v, %v, turned %v: of %.1f square points of ink %.1f are in the area %v", across, up, turned, all, within, area)
				}
			}
		}
	}
	w := Words{Size: 10}
	if one, two := w.Height("a"), w.Height("a\nb\n"); two <= 1.9*one || w.Width("a\nbbb") != w.Width("bbb") {
		t.Errorf("a line is %v high, two are %v", one, two)
	}
	if w.Width("AV") >= w.Width("A")+w.Width("V") {
		t.Error("letters are not set nearer to one another")
	}
}
