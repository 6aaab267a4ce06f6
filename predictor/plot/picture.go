package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// The size of a picture: 10 by 5 inches.
const (
	width  = 720
	height = 360
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

// write paints a picture within the margins of a white sheet, and writes it in a format.
func write(w io.Writer, format string, paint func(sheet.Canvas)) error {
	s := sheet.New(width, height)
	s.Canvas().Paint(paper)
	paint(s.Canvas().Crop(10, 25, 8, 10))
	return s.Write(w, format)
}

// newAxes sets up a title and two axes with nothing between them.
func newAxes(title, x, y string) *axes.Plot {
	p := &axes.Plot{
		Title: axes.Label{Text: title, Words: words(13, ink, .5, 1), Gap: 20},
		X:     axes.Axis{Label: axes.Label{Text: x}, Ticks: words(9, muted, .5, 1), Length: 4},
		Y:     axes.Axis{Label: axes.Label{Text: y}, Ticks: words(9, muted, 1, .5), Lineless: true},
	}
	p.Title.Words.Bold = true
	// A long title has smaller letters, so that it is not cut off, even in a wider font.
	for p.Title.Words.Width(title) >= .7*width && p.Title.Words.Size > 6 {
		p.Title.Words.Size--
	}
	for _, a := range []*axes.Axis{&p.X, &p.Y} {
		a.Label.Words, a.Label.Gap = words(10, muted, .5, 0), 6
		a.Colour, a.Marker = faint, axes.Round{}
	}
	p.Y.Label.Words.Turned = true
	return p
}
