package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/varq-project/varq/predictor/api"
)

// layers draws a trajectory between the axes, from the back to the front.
type layers struct{ *Trajectory }

// Plot implements gonum's Plotter.
func (l layers) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	s := scene{l.Trajectory, c, x, y, l.runs()}
	s.bands()
	s.grid()
	s.area()
	s.curve()
	if l.Prob > 0 {
		s.asked()
	}
	s.deadline()
	if l.Plan != nil {
		s.chosen()
	}
}

// run is a part of the trajectory whose forecasts are from one job class.
type run struct {
	points []api.Point
	end    int64 // where the next begins
}

// runs splits the trajectory where the class changes.
func (t *Trajectory) runs() []run {
	var runs []run
	start := 0
	for i := 1; i <= len(t.Points); i++ {
		if i < len(t.Points) && t.Points[i].Class == t.Points[start].Class {
			continue
		}
		end := t.BeginBy
		if i < len(t.Points) {
			end = t.Points[i].BeginTime
		}
		runs = append(runs, run{t.Points[start:i], end})
		start = i
	}
	return runs
}

// scene is what the layers share: the canvas between the axes, and the functions from data
// to places on it.
type scene struct {
	*Trajectory
	c    draw.Canvas
	x, y func(float64) vg.Length
	runs []run
}

func (s *scene) at(t int64, prob float64) vg.Point {
	return vg.Point{X: s.x(float64(t)), Y: s.y(prob)}
}

// bands shades every second run. Above the picture it writes the words of the run's class
// that distinguish the class from the others, if there is room.
func (s *scene) bands() {
	if len(s.runs) < 2 {
		return
	}
	common := s.common()
	style := words(8, muted, text.XCenter, text.YBottom)
	for i, r := range s.runs {
		left, right := s.x(float64(r.points[0].BeginTime)), s.x(float64(r.end))
		if i%2 == 1 {
			s.c.FillPolygon(band, []vg.Point{{X: left, Y: s.y(0)}, {X: right, Y: s.y(0)}, {X: right, Y: s.y(1)}, {X: left, Y: s.y(1)}})
		}
		name := r.points[0].Class
		if name != "" {
			name = strings.Join(slices.DeleteFunc(strings.Fields(name), func(w string) bool { return common[w] }), " ")
		}
		if style.Width(name)+vg.Points(6) <= right-left {
			s.c.FillText(style, vg.Point{X: (left + right) / 2, Y: s.y(1) + vg.Points(4)}, name)
		}
	}
}

// common returns the words that the names of all classes have.
func (s *scene) common() map[string]bool {
	count := map[string]int{}
	for _, r := range s.runs {
		for _, w := range strings.Fields(r.points[0].Class) {
			count[w]++
		}
	}
	all := map[string]bool{}
	for w, n := range count {
		all[w] = n == len(s.runs)
	}
	return all
}

func (s *scene) grid() {
	for n := 1; n <= 5; n++ {
		y := s.y(float64(n) / 5)
		s.c.StrokeLine2(line(grid, .75), s.c.Min.X, y, s.c.Max.X, y)
	}
}

// area fills the area below the submissions with at least the probability asked for.
func (s *scene) area() {
	for _, r := range s.runs {
		for i := 0; i < len(r.points); i++ {
			first := i
			for i < len(r.points) && r.points[i].Prob >= s.Prob {
				i++
			}
			if i == first {
				continue
			}
			outline := []vg.Point{s.at(r.points[first].BeginTime, 0)}
			for _, pt := range r.points[first:i] {
				outline = append(outline, s.at(pt.BeginTime, pt.Prob))
			}
			end := r.end
			if i < len(r.points) {
				end = r.points[i].BeginTime
			}
			last := r.points[i-1]
			outline = append(outline, s.at(end, last.Prob), s.at(end, 0))
			s.c.FillPolygon(enough, outline)
		}
	}
}

// curve draws each class's probabilities, with a thin thread from one to the
// next.
func (s *scene) curve() {
	for i, r := range s.runs {
		var path []vg.Point
		for _, pt := range r.points {
			path = append(path, s.at(pt.BeginTime, pt.Prob))
		}
		last := r.points[len(r.points)-1]
		path = append(path, s.at(r.end, last.Prob))
		s.c.StrokeLines(line(blue, 2), path)
		if i+1 < len(s.runs) {
			next := s.runs[i+1].points[0]
			s.c.StrokeLines(line(blue, .75, vg.Points(1), vg.Points(2)), []vg.Point{s.at(r.end, last.Prob), s.at(r.end, next.Prob)})
		}
	}
}

// asked draws a line at the probability asked for, with a label at the right.
func (s *scene) asked() {
	y := s.y(s.Prob)
	s.c.StrokeLine2(line(ink, 1, vg.Points(5), vg.Points(4)), s.c.Min.X, y, s.c.Max.X, y)
	style := words(9, ink, text.XLeft, text.YCenter)
	s.c.FillText(style, vg.Point{X: s.c.Max.X + vg.Points(5), Y: y}, percent(s.Prob)+"\nasked")
}

// deadline draws the right edge, which is the deadline.
func (s *scene) deadline() {
	s.c.StrokeLine2(line(ink, 1.25), s.c.Max.X, s.y(0), s.c.Max.X, s.y(1))
}

// chosen marks the submission of the plan, and writes its cost.
func (s *scene) chosen() {
	place := s.at(s.Plan.BeginTime, s.Plan.Estimate)
	s.c.StrokeLine2(line(orange, 1), place.X, s.y(0), place.X, place.Y)
	s.c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: vg.Points(6), Shape: draw.CircleGlyph{}}, place)
	s.c.DrawGlyph(draw.GlyphStyle{Color: orange, Radius: vg.Points(4.5), Shape: draw.CircleGlyph{}}, place)

	says := fmt.Sprintf("eligible at %s: %s\n", clock(s.Plan.BeginTime, s.Location), percent(s.Plan.Estimate))
	if s.Plan.Worst.NodeSeconds > 0 {
		says += fmt.Sprintf("extra cost at most %s,\n%s on average", nodeHours(s.Plan.Worst), nodeHours(s.Plan.Expected))
	} else {
		says += "no extra cost"
	}
	style := words(10, orange, text.XLeft, text.YTop)
	corner := vg.Point{X: place.X + vg.Points(10), Y: place.Y - vg.Points(10)}
	if place.X > (s.c.Min.X+s.c.Max.X)/2 {
		style.XAlign, corner.X = text.XRight, place.X-vg.Points(10)
	}
	if s.Plan.Estimate < .35 {
		style.YAlign, corner.Y = text.YBottom, place.Y+vg.Points(10)
	}
	// A white background keeps the label readable.
	const pad = 3
	r := style.Rectangle(says).Add(corner)
	low, high := vg.Point{X: r.Min.X - pad, Y: r.Min.Y - pad}, vg.Point{X: r.Max.X + pad, Y: r.Max.Y + pad}
	s.c.FillPolygon(overlay, []vg.Point{low, {X: high.X, Y: low.Y}, high, {X: low.X, Y: high.Y}})
	s.c.FillText(style, corner, says)
}

// percent writes a probability in per cent, rounded down to one decimal.
func percent(prob float64) string {
	return fmt.Sprintf("%g %%", math.Floor(prob*1000+1e-6)/10)
}

// nodeHours writes a cost.
func nodeHours(c api.Cost) string { return fmt.Sprintf("%.1f node-hours", c.NodeSeconds/3600) }
