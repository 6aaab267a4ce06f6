package axes

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/plot/sheet"
)

// data notes where the canvas between the axes is.
type data struct{ at *sheet.Area }

func (d data) Draw(c sheet.Canvas, p *Plot) {
	*d.at = c.Area
	p.Grid(c, sheet.Pen{Width: .75, Colour: color.NRGBA{A: 0xff}}, true, true)
}

func words() sheet.Words { return sheet.Words{Size: 9, Across: .5} }

// plot returns a plot with long labels, and where its data are once it is drawn.
func plot(title string) (*Plot, *sheet.Area) {
	at := &sheet.Area{}
	p := &Plot{
		Title: Label{title, words(), 20},
		X:     Axis{Min: 1, Max: 100, Log: true, Label: Label{"across", words(), 6}, Marker: Ticks{{1, "1"}, {50, ""}, {100, "one hundred"}}, Ticks: words(), Length: 4},
		Y:     Axis{Min: 0, Max: 1, Label: Label{"up", words(), 6}, Marker: Ticks{{0, "0"}, {1, "one\ntwo"}, {2, "beyond"}}, Ticks: words(), Lineless: true},
	}
	p.Title.Words.Up, p.X.Ticks.Up = 1, 1
	p.Y.Ticks.Across, p.Y.Ticks.Up, p.Y.Label.Words.Turned = 1, .5, true
	p.Add(data{at})
	return p, at
}

// texts returns where the words of a sheet are, as far as they are not turned.
func texts(t *testing.T, s *sheet.Sheet) map[string]sheet.Point {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	found := map[string]sheet.Point{}
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err != nil {
			return found
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var text string
		if err := d.DecodeElement(&text, &start); err != nil {
			t.Fatal(err)
		}
		var at sheet.Point
		at.X, _ = strconv.ParseFloat(start.Attr[0].Value, 64)
		at.Y, _ = strconv.ParseFloat(strings.TrimPrefix(start.Attr[1].Value, "-"), 64)
		found[text] = at
	}
}

// TestNothingIsCutOff: labels are on the sheet, and the data between the axes.
func TestNothingIsCutOff(t *testing.T) {
	s := sheet.New(200, 100)
	p, at := plot("Title")
	p.Draw(s.Canvas())
	found := texts(t, s)
	for _, text := range []string{"Title", "across", "1", "one hundred", "0", "one", "two", "up"} {
		if _, ok := found[text]; !ok {
			t.Errorf("%q is not there: %v", text, found)
		}
	}
	if _, ok := found["beyond"]; ok {
		t.Error("a tick beyond the axis is there")
	}
	if right := found["one hundred"].X + words().Width("one hundred"); right > 200.1 {
		t.Errorf("a label reaches to %v", right)
	}
	if top := found["one"].Y + words().Extents().Ascent; top > 100-words().Height("Title")-20+.1 {
		t.Errorf("a label reaches up to %v", top)
	}
	if !(at.Min.X > 20 && at.Min.Y > 20 && at.Max.X < 200 && at.Max.Y < 75 && at.Max.X-at.Min.X > 100 && at.Max.Y-at.Min.Y > 20) {
		t.Errorf("the data are at %v", at)
	}
	x, y := p.Places(&sheet.Canvas{Area: *at})
	if mid := x(10); math.Abs(mid-at.Centre().X) > 1e-9 || y(1) != at.Max.Y {
		t.Errorf("10 is at %v of %v", mid, at)
	}
}

// TestEqualEnds: an axis from a number to itself is one around it.
func TestEqualEnds(t *testing.T) {
	p, at := plot("")
	p.X.Log, p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = false, 5, 5, 0, 0
	p.Draw(sheet.New(200, 100).Canvas())
	if p.X.Min != 4 || p.X.Max != 6 || p.Y.Min != -1 || at.Max.Y < 80 {
		t.Errorf("%v to %v, %v: %v", p.X.Min, p.X.Max, p.Y.Min, at)
	}
}

// TestStack: the data of plots of a stack are equally high and broad, and lie on one another in
// order.
func TestStack(t *testing.T) {
	for n := 1; n < 5; n++ {
		var plots []*Plot
		var places []*sheet.Area
		for i := range n {
			title := ""
			if i == 0 {
				title = "Title"
			}
			p, at := plot(title)
			p.Y.Marker = Ticks{{1, fmt.Sprint(math.Pow10(i))}}
			plots, places = append(plots, p), append(places, at)
		}
		Stack(sheet.New(720, 360).Canvas(), 8, plots...)
		for i, at := range places {
			first := places[0]
			if math.Abs(at.Min.X-first.Min.X)+math.Abs(at.Max.X-first.Max.X)+math.Abs(at.Max.Y-at.Min.Y-first.Max.Y+first.Min.Y) > 1e-6 {
				t.Errorf("of %d plots the data of %d are at %v, and those of the first at %v", n, i, at, first)
			}
			if i > 0 && at.Max.Y > places[i-1].Min.Y-8 {
				t.Errorf("of %d plots %d is not below the one before", n, i)
			}
		}
		if last := places[n-1]; last.Min.Y < 20 || last.Min.Y > 40 {
			t.Errorf("of %d plots the last begins at %v", n, last.Min.Y)
		}
	}
}
