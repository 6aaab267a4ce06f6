package axes

import (
	"math"

	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Stack draws plots one below another, with a gap between them. What is between their axes is
// equally high, and begins and ends at the same places.
func Stack(c sheet.Canvas, gap float64, plots ...*Plot) {
	n := float64(len(plots))
	tile := (c.Max.Y - c.Min.Y - (n-1)*gap) / n
	// The room that the axes and titles take: on the sides the most of all plots.
	var left, right, around float64
	above, below := make([]float64, len(plots)), make([]float64, len(plots))
	for i, p := range plots {
		t := c
		t.Max.Y = c.Max.Y - float64(i)*(tile+gap)
		t.Min.Y = t.Max.Y - tile
		inner := p.inner(t)
		left, right = math.Max(left, inner.Min.X-t.Min.X), math.Max(right, t.Max.X-inner.Max.X)
		above[i], below[i] = t.Max.Y-inner.Max.Y, inner.Min.Y-t.Min.Y
		around += above[i] + below[i]
	}
	height := (c.Max.Y - c.Min.Y - around - (n-1)*gap) / n
	top := c.Max.Y
	for i, p := range plots {
		t := c
		t.Max.Y = top
		t.Min.Y = top - above[i] - height - below[i]
		inner := p.inner(t)
		p.Draw(t.Crop(left-(inner.Min.X-t.Min.X), right-(t.Max.X-inner.Max.X), 0, 0))
		top = t.Min.Y - gap
	}
}
