package axes

import "github.com/varq-project/varq/predictor/plot/sheet"

// drawBelow draws the axis along the lower edge of a canvas.
func (a *Axis) drawBelow(c sheet.Canvas) {
	y := c.Min.Y
	if a.Label.Text != "" {
		w := a.Label.Words
		c.Words(w, sheet.Point{X: c.Centre().X, Y: y + w.Extents().Descent}, a.Label.Text)
		y += a.labelDepth()
	}
	all, some := a.labelled()
	tallest := a.tallest(some)
	for _, t := range some {
		if x := c.X(a.share(t.Value)); c.HasX(x) {
			c.Words(a.Ticks, sheet.Point{X: x, Y: y + tallest + a.Ticks.Extents().Descent}, t.Label)
		}
	}
	if len(all) > 0 {
		y += tallest
	} else {
		y += a.line() / 2
	}
	if a.Length > 0 {
		for _, t := range all {
			if x := c.X(a.share(t.Value)); c.HasX(x) {
				c.Straight(a.pen(), x, y+a.from(t), x, y+a.Length)
			}
		}
		if len(all) > 0 {
			y += a.Length
		}
	}
	if !a.Lineless {
		c.Straight(a.pen(), c.Min.X, y, c.Max.X, y)
	}
}

// drawLeft draws the axis along the left edge of a canvas.
func (a *Axis) drawLeft(c sheet.Canvas) {
	x := c.Min.X
	if a.Label.Text != "" {
		w := a.Label.Words
		c.Words(w, sheet.Point{X: x + w.Height(a.Label.Text) - w.Extents().Descent, Y: c.Centre().Y}, a.Label.Text)
		x += a.labelBreadth()
	}
	all, some := a.labelled()
	x += a.widest(some)
	within := 0
	for _, t := range some {
		if y := c.Y(a.share(t.Value)); c.HasY(y) {
			c.Words(a.Ticks, sheet.Point{X: x, Y: y + a.Ticks.Extents().Descent}, t.Label)
			within++
		}
	}
	if within > 0 {
		x += a.Ticks.Width(" ")
	}
	if a.Length > 0 && len(all) > 0 {
		for _, t := range all {
			if y := c.Y(a.share(t.Value)); c.HasY(y) {
				c.Straight(a.pen(), x+a.from(t), y, x+a.Length, y)
			}
		}
		x += a.Length
	}
	if !a.Lineless {
		c.Straight(a.pen(), x, c.Min.Y, x, c.Max.Y)
	}
}

func (a *Axis) pen() sheet.Pen { return sheet.Pen{Colour: a.Colour, Width: lineWidth} }
