package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// layers draws a trajectory between the axes, from the back to the front.
type layers struct{ *Trajectory }

// Draw implements axes.Layer.
func (l layers) Draw(c sheet.Canvas, p *axes.Plot) {
	x, y := p.Places(&c)
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
	c    sheet.Canvas
	x, y func(float64) float64
	runs []run
}

func (s *scene) at(t int64, prob float64) sheet.Point {
	return sheet.Point{X: s.x(float64(t)), Y: s.y(prob)}
}

// bands shades every second run. Above the picture it writes the words of the run's class
// that distinguish the class from the others, if there is room.
func (s *scene) bands() {
	if len(s.runs) < 2 {
		return
	}
	common := s.common()
	style := words(8, muted, .5, 0)
	for i, r := range s.runs {
		left, right := s.x(float64(r.points[0].BeginTime)), s.x(float64(r.end))
		if i%2 == 1 {
			s.c.Fill(band, []sheet.Point{{X: left, Y: s.y(0)}, {X: right, Y: s.y(0)}, {X: right, Y: s.y(1)}, {X: left, Y: s.y(1)}})
		}
		name := r.points[0].Class
		if name != "" {
			name = strings.Join(slices.DeleteFunc(strings.Fields(name), func(w string) bool { return common[w] }), " ")
		}
		if style.Width(name)+6 <= right-left {
			s.c.Words(style, sheet.Point{X: (left + right) / 2, Y: s.y(1) + 4}, name)
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
		s.c.Straight(line(grid, .75), s.c.Min.X, y, s.c.Max.X, y)
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
			outline := []sheet.Point{s.at(r.points[first].BeginTime, 0)}
			for _, pt := range r.points[first:i] {
				outline = append(outline, s.at(pt.BeginTime, pt.Prob))
			}
			end := r.end
			if i < len(r.points) {
				end = r.points[i].BeginTime
			}
			last := r.points[i-1]
			outline = append(outline, s.at(end, last.Prob), s.at(end, 0))
			s.c.Fill(enough, outline)
		}
	}
}

// curve draws each class's probabilities, with a thin thread from one to the
// next.
func (s *scene) curve() {
	for i, r := range s.runs {
		var path []sheet.Point
		for _, pt := range r.points {
			path = append(path, s.at(pt.BeginTime, pt.Prob))
		}
		last := r.points[len(r.points)-1]
		path = append(path, s.at(r.end, last.Prob))
		s.c.Line(line(blue, 2), path)
		if i+1 < len(s.runs) {
			next := s.runs[i+1].points[0]
			s.c.Line(line(blue, .75, 1, 2), []sheet.Point{s.at(r.end, last.Prob), s.at(r.end, next.Prob)})
		}
	}
}

// asked draws a line at the probability asked for, with a label at the right.
func (s *scene) asked() {
	y := s.y(s.Prob)
	s.c.Straight(line(ink, 1, 5, 4), s.c.Min.X, y, s.c.Max.X, y)
	style := words(9, ink, 0, .5)
	s.c.Words(style, sheet.Point{X: s.c.Max.X + 5, Y: y}, percent(s.Prob)+"\nasked")
}

// deadline draws the right edge, which is the deadline.
func (s *scene) deadline() {
	s.c.Straight(line(ink, 1.25), s.c.Max.X, s.y(0), s.c.Max.X, s.y(1))
}

// chosen marks the submission of the plan, and writes its cost.
func (s *scene) chosen() {
	place := s.at(s.Plan.BeginTime, s.Plan.Estimate)
	s.c.Straight(line(orange, 1), place.X, s.y(0), place.X, place.Y)
	s.c.Dot(paper, 6, place)
	s.c.Dot(orange, 4.5, place)

	says := fmt.Sprintf("eligible at %s: %s\n", clock(s.Plan.BeginTime, s.Location), percent(s.Plan.Estimate))
	if s.Plan.Worst.NodeSeconds > 0 {
		says += fmt.Sprintf("extra cost at most %s,\n%s on average", nodeHours(s.Plan.Worst), nodeHours(s.Plan.Expected))
	} else {
		says += "no extra cost"
	}
	style := words(10, orange, 0, 1)
	corner := sheet.Point{X: place.X + 10, Y: place.Y - 10}
	if place.X > (s.c.Min.X+s.c.Max.X)/2 {
		style.Across, corner.X = 1, place.X-10
	}
	if s.Plan.Estimate < .35 {
		style.Up, corner.Y = 0, place.Y+10
	}
	// A white background keeps the label readable.
	const pad = 3
	r := style.Area(says).Plus(corner)
	low, high := sheet.Point{X: r.Min.X - pad, Y: r.Min.Y - pad}, sheet.Point{X: r.Max.X + pad, Y: r.Max.Y + pad}
	s.c.Fill(overlay, []sheet.Point{low, {X: high.X, Y: low.Y}, high, {X: low.X, Y: high.Y}})
	s.c.Words(style, corner, says)
}

// percent writes a probability in per cent, rounded down to one decimal.
func percent(prob float64) string {
	return fmt.Sprintf("%g %%", math.Floor(prob*1000+1e-6)/10)
}

// nodeHours writes a cost.
func nodeHours(c api.Cost) string { return fmt.Sprintf("%.1f node-hours", c.NodeSeconds/3600) }
