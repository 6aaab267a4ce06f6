package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a picture, and its resolution as PNG.
const (
	width  = 10 * vg.Inch
	height = 5 * vg.Inch
	dpi    = 144
)

// Format returns the format for the ending of a file's name: "svg" or "png".
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	}
	return "", fmt.Errorf("%s: a picture's name ends in .svg or .png", path)
}

// Picture is something that can be drawn, such as a Trajectory.
type Picture interface {
	// Write draws the picture in a format, "svg" or "png". It fails if w fails, or with
	// ErrNothing.
	Write(w io.Writer, format string) error
}

// ErrNothing is the error of an empty picture.
var ErrNothing = errors.New("nothing to draw")

// Save draws a picture into a file, in the format of its name.
func Save(path string, p Picture) error {
	format, err := Format(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.Write(&b, format); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// write paints a picture on a canvas, within margins, and writes it in a format.
func write(w io.Writer, format string, paint func(draw.Canvas)) error {
	switch format {
	case "svg":
		c := vgsvg.New(width, height)
		paint(sheet(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		// If the font is missing, fonts with the same metrics replace it.
		_, err := w.Write(bytes.ReplaceAll(b.Bytes(),
			[]byte("font-family:Liberation Sans;"),
			[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		paint(sheet(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return fmt.Errorf("no pictures in the format %q", format)
}

// sheet paints the whole canvas white, and returns it without its margins.
func sheet(c vg.CanvasSizer) draw.Canvas {
	whole := draw.New(c)
	whole.SetColor(paper)
	whole.Fill(whole.Path())
	return draw.Crop(whole, vg.Points(10), -vg.Points(25), vg.Points(8), -vg.Points(10))
}

// axes sets up a title and two axes with nothing between them.
func axes(title, x, y string) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil // the sheet is painted
	p.Title.Text = title
	p.Title.TextStyle.Color = ink
	// A long title has smaller letters, so that it is not cut off, even in a wider font.
	for size := 13.; size >= 6; size-- {
		p.Title.TextStyle.Font = face(size, true)
		if p.Title.TextStyle.Width(title) < .7*width {
			break
		}
	}
	p.Title.Padding = vg.Points(20)
	p.X.Label.Text = x
	p.Y.Label.Text = y
	p.X.Padding, p.Y.Padding = 0, 0
	for _, a := range []*gonum.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = face(10, false)
		a.Label.TextStyle.Color = muted
		a.Label.Padding = vg.Points(6)
		a.Tick.Label.Font = face(9, false)
		a.Tick.Label.Color = muted
		a.Color = faint
		a.Tick.Color = faint
		a.Tick.Length = vg.Points(4)
	}
	p.Y.Width = 0
	p.Y.Tick.Length = 0
	return p
}
