package plot

import (
	"errors"
	"io"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/varq-project/varq/predictor/scenario"
)

// Load is a picture of how busy a cluster is over time: above the jobs that wait,
// below the share of the processors that are taken; one line for each course.
type Load struct {
	Title   string
	Courses []Course
}

// Course is how a named cluster fares.
type Course struct {
	Name string
	scenario.Series
}

// Write draws the picture in a format, "svg" or "png". Its error is w's, or that
// there is nothing to draw.
func (l *Load) Write(w io.Writer, format string) error {
	if len(l.Courses) == 0 {
		return errNoTime
	}
	start, end := l.Courses[0].Start, l.Courses[0].Start
	for _, course := range l.Courses {
		start = min(start, course.Start)
		end = max(end, course.Start+course.Step*int64(len(course.Busy)))
	}
	if start == end {
		return errNoTime
	}
	unit, label := unitOf(end - start)
	queue, busy := axes(l.Title, "", "jobs waiting"), axes("", label, "processors taken")
	var queues, shares lines
	var names key
	most := 1.
	for _, course := range l.Courses {
		names = append(names, course.Name)
		from, step := float64(course.Start-start)/unit, float64(course.Step)/unit
		queues = append(queues, staircase(course.Queued, from, step))
		shares = append(shares, staircase(course.Busy, from, step))
		for _, n := range course.Queued {
			most = max(most, n)
		}
	}
	queue.Y.Max, busy.Y.Max = most, 1
	for _, p := range []*gonum.Plot{queue, busy} {
		p.X.Min, p.X.Max = 0, float64(end-start)/unit
		p.Y.Min = 0
	}
	queue.X.Tick.Marker = unlabelled{gonum.DefaultTicks{}}
	busy.Y.Tick.Marker = percentTicks{}
	queue.Add(queues, names)
	busy.Add(shares)
	return write(w, format, func(c draw.Canvas) {
		c = draw.Crop(c, vg.Points(10), -vg.Points(25), vg.Points(8), -vg.Points(10))
		tiles := gonum.Align([][]*gonum.Plot{{queue}, {busy}}, draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(8)}, c)
		queue.Draw(tiles[0][0])
		busy.Draw(tiles[1][0])
	})
}

var errNoTime = errors.New("nothing to draw: no time has passed")

// unitOf returns in what to count a time of so many seconds.
func unitOf(span int64) (seconds float64, label string) {
	switch {
	case span >= 3*86400:
		return 86400, "days"
	case span >= 3*3600:
		return 3600, "hours"
	default:
		return 60, "minutes"
	}
}

// staircase goes along each of some means for a step.
func staircase(means []float64, from, step float64) plotter.XYs {
	path := make(plotter.XYs, 0, 2*len(means))
	for i, y := range means {
		left := from + float64(i)*step
		path = append(path, plotter.XY{X: left, Y: y}, plotter.XY{X: left + step, Y: y})
	}
	return path
}

// unlabelled keeps the ticks of an axis that another below it has the labels of.
type unlabelled struct{ gonum.Ticker }

// Ticks returns the ticks without labels.
func (u unlabelled) Ticks(low, high float64) []gonum.Tick {
	ticks := u.Ticker.Ticks(low, high)
	for i := range ticks {
		if !ticks[i].IsMinor() {
			ticks[i].Label = " "
		}
	}
	return ticks
}
