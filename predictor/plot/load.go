package plot

import (
	"errors"
	"io"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Load is a picture of how busy a cluster is over time: above the jobs that wait,
// below the share of the processors that work; one line for each course.
type Load struct {
	Title   string
	Courses []Course
}

// Course is how a named cluster fares: means over stretches of equal length.
type Course struct {
	Name   string
	Step   int64     // length of a stretch, seconds
	Queued []float64 // jobs that wait
	Busy   []float64 // share of the processors, 0 to 1
}

// Write draws the picture in a format, "svg" or "png". Its error is w's, or that
// there is nothing to draw.
func (l *Load) Write(w io.Writer, format string) error {
	var end int64
	for _, course := range l.Courses {
		end = max(end, course.Step*int64(len(course.Busy)))
	}
	if end == 0 {
		return errors.New("nothing to draw: no time has passed")
	}
	unit, label := unitOf(end)
	queue, busy := axes(l.Title, "", "jobs waiting"), axes("", label, "processors at work")
	var queues, shares lines
	var names key
	most := 1.
	for _, course := range l.Courses {
		names = append(names, course.Name)
		step := float64(course.Step) / unit
		queues = append(queues, staircase(course.Queued, step))
		shares = append(shares, staircase(course.Busy, step))
		for _, n := range course.Queued {
			most = max(most, n)
		}
	}
	queue.Y.Max, busy.Y.Max = most, 1
	for _, p := range []*gonum.Plot{queue, busy} {
		p.X.Min, p.X.Max = 0, float64(end)/unit
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

// unitOf returns in what to count a time of so many seconds.
func unitOf(end int64) (seconds float64, label string) {
	switch {
	case end >= 3*86400:
		return 86400, "days"
	case end >= 3*3600:
		return 3600, "hours"
	default:
		return 60, "minutes"
	}
}

// staircase goes along each of some means for a step.
func staircase(means []float64, step float64) plotter.XYs {
	path := make(plotter.XYs, 0, 2*len(means))
	for i, y := range means {
		path = append(path, plotter.XY{X: float64(i) * step, Y: y}, plotter.XY{X: float64(i+1) * step, Y: y})
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
