package axes

import "github.com/varq-project/varq/predictor/plot/sheet"

// Draw draws the plot on a canvas.
func (p *Plot) Draw(c sheet.Canvas) {
	p.X.spread()
	p.Y.spread()
	if p.Title.Text != "" {
		w := p.Title.Words
		c.Words(w, sheet.Point{X: c.Centre().X, Y: c.Max.Y + w.Extents().Descent}, p.Title.Text)
	}
	left, bottom := p.Y.breadth(), p.X.depth()
	c = p.untitled(c)
	p.X.drawBelow(p.clearRight(c.Crop(left, 0, 0, 0)))
	p.Y.drawLeft(p.clearTop(c.Crop(0, 0, bottom, 0)))
	inner := p.clearTop(p.clearRight(c.Crop(left, 0, bottom, 0)))
	for _, l := range p.layers {
		l.Draw(inner, p)
	}
}

// inner returns the part of a canvas that is between the axes.
func (p *Plot) inner(c sheet.Canvas) sheet.Canvas {
	p.X.spread()
	p.Y.spread()
	return p.clearTop(p.clearRight(p.untitled(c).Crop(p.Y.breadth(), 0, p.X.depth(), 0)))
}

// untitled returns the canvas below the title.
func (p *Plot) untitled(c sheet.Canvas) sheet.Canvas {
	if p.Title.Text == "" {
		return c
	}
	return c.Crop(0, 0, 0, p.Title.Words.Height(p.Title.Text)+p.Title.Gap)
}

// clearRight makes the canvas narrower, so that nothing that is written below it reaches beyond its
// right edge.
func (p *Plot) clearRight(c sheet.Canvas) sheet.Canvas {
	most, over, share := c.Max.X, 0., 1.
	for _, b := range p.X.boxes() {
		if at := c.X(b.share) + b.Max.X; at > most && b.share <= 1 {
			most, over, share = at, b.Max.X, b.share
		}
	}
	c.Max.X = c.Min.X + (c.Max.X-over-c.Min.X)/share
	return c
}

// clearTop makes the canvas lower, so that nothing that is written on its left reaches beyond its
// upper edge.
func (p *Plot) clearTop(c sheet.Canvas) sheet.Canvas {
	most, over, share := c.Max.Y, 0., 1.
	for _, b := range p.Y.boxes() {
		if at := c.Y(b.share) + b.Max.Y; at > most && b.share <= 1 {
			most, over, share = at, b.Max.Y, b.share
		}
	}
	c.Max.Y = c.Min.Y + (c.Max.Y-over-c.Min.Y)/share
	return c
}

// box is where a text is, from a share of the axis on.
type box struct {
	share float64
	sheet.Area
}

// boxes returns where the texts along the axis are.
func (a *Axis) boxes() []box {
	var all []box
	if a.Label.Text != "" {
		all = append(all, box{a.share((a.Max + a.Min) / 2), a.Label.Words.Area(a.Label.Text)})
	}
	_, ticks := a.labelled()
	e := a.Ticks.Extents()
	for _, t := range ticks {
		all = append(all, box{a.share(t.Value), a.Ticks.Area(t.Label).Plus(sheet.Point{Y: e.Height - e.Ascent})})
	}
	return all
}

// depth returns how high the axis below and its texts are.
func (a *Axis) depth() float64 {
	h := a.labelDepth()
	if all, some := a.labelled(); len(all) > 0 {
		h += a.Length + a.tallest(some)
	}
	return h + a.line()/2
}

// labelDepth returns how much of that is the label's.
func (a *Axis) labelDepth() float64 {
	if a.Label.Text == "" {
		return 0
	}
	return a.Label.Words.Height(a.Label.Text) + a.Label.Gap
}

// breadth returns how broad the axis on the left and its texts are.
func (a *Axis) breadth() float64 {
	w := a.labelBreadth()
	if all, some := a.labelled(); len(all) > 0 {
		if widest := a.widest(some); widest > 0 {
			w += widest + a.Label.Words.Width(" ")
		}
		w += a.Length
	}
	return w + a.line()/2
}

// labelBreadth returns how much of that is the label's, which is turned.
func (a *Axis) labelBreadth() float64 {
	if a.Label.Text == "" {
		return 0
	}
	w := a.Label.Words
	return w.Extents().Descent + w.Height(a.Label.Text) + a.Label.Gap
}

func (a *Axis) tallest(ticks []Tick) float64 {
	most := 0.
	for _, t := range ticks {
		most = max(most, a.Ticks.Height(t.Label))
	}
	return most
}

func (a *Axis) widest(ticks []Tick) float64 {
	most := 0.
	for _, t := range ticks {
		most = max(most, a.Ticks.Width(t.Label))
	}
	return most
}

// line returns the width of the line along the axis.
func (a *Axis) line() float64 {
	if a.Lineless {
		return 0
	}
	return lineWidth
}
