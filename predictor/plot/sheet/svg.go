package sheet

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
)

// svgWriter collects a picture.
type svgWriter struct{ bytes.Buffer }

func (s *Sheet) writeSVG(w io.Writer) error {
	var out svgWriter
	width, height := number(s.width), number(s.height)
	fmt.Fprintf(&out, `<?xml version="1.0"?>
<svg width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s"
	xmlns="http://www.w3.org/2000/svg"
	xmlns:xlink="http://www.w3.org/1999/xlink">
<g transform="scale(1, -1) translate(0, -%[2]s)">
`, width, height)
	for _, m := range s.marks {
		m.svg(&out)
	}
	out.WriteString("</g>\n</svg>\n")
	_, err := w.Write(out.Bytes())
	return err
}

// number writes a number with five digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// place writes a place in a path.
func place(p Point) string { return number(p.X) + "," + number(p.Y) }

// path writes a path.
func (w *svgWriter) path(data string, style ...string) {
	fmt.Fprintf(w, "<path d=%q style=%q />\n", data, strings.Join(style, ";"))
}

// along returns the data of a path from place to place.
func along(places []Point) string {
	var b strings.Builder
	command := "M"
	for _, p := range places {
		b.WriteString(command + place(p))
		command = "L"
	}
	return b.String()
}

// hex returns a colour without its opacity.
func hex(c color.NRGBA) string {
	r, g, b, a := c.RGBA()
	part := func(x uint32) int { return int(float64(x) * (255 / float64(a))) }
	return fmt.Sprintf("#%02X%02X%02X", part(r), part(g), part(b))
}

// opaque returns what a property of opacity is to be, which is nothing if it is as usual.
func opaque(property string, c color.NRGBA) []string {
	_, _, _, a := c.RGBA()
	if a == math.MaxUint16 {
		return nil
	}
	return []string{property + ":" + number(float64(a)/math.MaxUint16)}
}

func (p polygon) svg(w *svgWriter) {
	w.path(along(p.corners)+"Z", append([]string{"fill:" + hex(p.colour)}, opaque("fill-opacity", p.colour)...)...)
}

func (l line) svg(w *svgWriter) {
	style := append([]string{"fill:none", "stroke:" + hex(l.Colour)}, opaque("stroke-opacity", l.Colour)...)
	if l.Width != 1 {
		style = append(style, "stroke-width:"+number(l.Width))
	}
	if len(l.Dashes) > 0 {
		var lengths []string
		for _, d := range l.Dashes {
			lengths = append(lengths, number(d))
		}
		style = append(style, "stroke-dasharray:"+strings.Join(lengths, ","))
	}
	w.path(along(l.places), style...)
}

// A disc is two arcs, as one may not end where it begins.
func (d dot) svg(w *svgWriter) {
	left, right := Point{d.centre.X - d.radius, d.centre.Y}, Point{d.centre.X + d.radius, d.centre.Y}
	arc := "A" + place(Point{d.radius, d.radius}) + " 0 1 1 "
	w.path("M"+place(right)+arc+place(left)+arc+place(right)+"Z", append([]string{"fill:" + hex(d.colour)}, opaque("fill-opacity", d.colour)...)...)
}

// If the font is missing, fonts with the same measures replace it.
func (t written) svg(w *svgWriter) {
	weight := "normal"
	if t.Bold {
		weight = "bold"
	}
	if t.Turned {
		w.WriteString("<g transform=\"rotate(90)\">\n")
	}
	fmt.Fprintf(w, "<text x=%q y=%q transform=\"scale(1, -1)\"\n\tstyle=\"font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"+
		"font-variant:normal;font-weight:%s;font-style:normal;font-size:%spx;fill:%s\">%s</text>\n",
		number(t.at.X), number(-t.at.Y), weight, number(t.Size), hex(t.Colour), html.EscapeString(t.text))
	if t.Turned {
		w.WriteString("</g>\n")
	}
}
