// Package plot draws probability trajectories as SVG or PNG pictures, in the
// manner of the VARQ paper's Figure 4: the probability of starting by the
// deadline against the time at which the job becomes eligible.
package plot

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/varq-project/varq/predictor/api"
)

// The size of a picture, and its resolution as PNG.
const (
	width  = 10 * vg.Inch
	height = 5 * vg.Inch
	dpi    = 144
)

// Trajectory is a picture of what was forecast for a request, and of the plan if
// there is one.
type Trajectory struct {
	Title    string
	Points   []api.Point // in increasing order of BeginTime
	Prob     float64     // the probability asked for, 0 if that is not known
	BeginBy  int64       // the deadline, Unix seconds
	Plan     *api.Plan   // nil when refused
	Location *time.Location
}

// Format returns the format that a file's name asks for, "svg" or "png".
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	}
	return "", fmt.Errorf("%s: a picture's name ends in .svg or .png", path)
}

// Save draws the picture into a file, in the format that its name asks for.
func (t *Trajectory) Save(path string) error {
	format, err := Format(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Write(&b, format); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// Write draws the picture in a format, "svg" or "png". Its error is w's, or that
// there is nothing to draw.
func (t *Trajectory) Write(w io.Writer, format string) error {
	if len(t.Points) == 0 || t.BeginBy <= t.Points[0].BeginTime {
		return fmt.Errorf("nothing to draw: no submission before the deadline was forecast")
	}
	p := t.plot()
	switch format {
	case "svg":
		c := vgsvg.New(width, height)
		p.Draw(margins(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		// Where the font is missing, its metric equivalents do.
		_, err := w.Write(bytes.ReplaceAll(b.Bytes(),
			[]byte("font-family:Liberation Sans;"),
			[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		p.Draw(margins(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return fmt.Errorf("no pictures in the format %q", format)
}

// margins leaves some paper around the picture.
func margins(c vg.CanvasSizer) draw.Canvas {
	whole := draw.New(c)
	whole.SetColor(paper)
	whole.Fill(whole.Path())
	return draw.Crop(whole, vg.Points(10), -vg.Points(40), vg.Points(8), -vg.Points(10))
}

// plot sets up the axes and what is drawn between them.
func (t *Trajectory) plot() *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil // the margins have painted it
	p.Title.Text = t.Title
	p.Title.TextStyle.Font = face(13, true)
	p.Title.TextStyle.Color = ink
	p.Title.Padding = vg.Points(20)
	p.X.Min, p.X.Max = float64(t.Points[0].BeginTime), float64(t.BeginBy)
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Label.Text = "the job becomes eligible at"
	p.Y.Label.Text = "probability of a start by " + clock(t.BeginBy, t.Location)
	p.X.Tick.Marker = clockTicks{t.BeginBy, t.Location}
	p.Y.Tick.Marker = percentTicks{}
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
	p.Add(layers{t})
	return p
}
