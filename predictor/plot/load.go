package plot

import (
	"fmt"
	"io"
	"slices"

	"github.com/varq-project/varq/predictor/plot/axes"
	"github.com/varq-project/varq/predictor/plot/sheet"
)

// Load is a picture of the load of a cluster over time. The upper part shows the number of
// waiting jobs, and the lower part the share of busy processors. Each course has a line.
type Load struct {
	Title   string
	Courses []Course
}

// Course is the load of a named cluster. It has a mean for each step of the time from Start on, in
// Unix seconds; Step is in seconds.
type Course struct {
	Name         string
	Start, Step  int64
	Queued, Busy []float64 // waiting jobs, and the share of busy processors
}

// The largest number of steps of a course: alone, and with others, which overlap.
const (
	stepsOfOne  = 250
	stepsOfMany = 80
)

// Write draws the picture in a format, "svg" or "png". It fails if w fails, or
// with ErrNothing.
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
	span := float64(end-start) / unit
	steps := stepsOfOne
	if len(l.Courses) > 1 {
		steps = stepsOfMany
	}
	queue, busy := newAxes(l.Title, "", "jobs waiting"), newAxes("", label, "processors taken")
	var queues, shares lines
	var names key
	most := 1.
	for _, course := range l.Courses {
		names = append(names, course.Name)
		merge := 1 + (len(course.Busy)-1)/steps
		from, step := float64(course.Start-start)/unit, float64(course.Step)*float64(merge)/unit
		queued := merged(course.Queued, merge)
		queues = append(queues, staircase(queued, from, step, span))
		shares = append(shares, staircase(merged(course.Busy, merge), from, step, span))
		most = max(most, slices.Max(queued))
	}
	queue.Y.Max, busy.Y.Max = most, 1
	for _, p := range []*axes.Plot{queue, busy} {
		p.X.Min, p.X.Max = 0, span
		p.Y.Min = 0
	}
	queue.X.Marker = axes.Unlabelled{Marker: axes.Round{}}
	queue.Y.Marker = axes.Round{Short: true}
	busy.X.Marker = axes.Round{Short: true}
	busy.Y.Marker = percentTicks{}
	queue.Add(queues, names)
	busy.Add(shares)
	return write(w, format, func(c sheet.Canvas) { axes.Stack(c, 8, queue, busy) })
}

var errNoTime = fmt.Errorf("%w: no time has passed", ErrNothing)

// unitOf returns a unit for a time span, in seconds, and its label.
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

// staircase returns a path that stays at each of the means for one step, up to the end.
func staircase(means []float64, from, step, end float64) []sheet.Point {
	path := make([]sheet.Point, 0, 2*len(means))
	for i, y := range means {
		left := from + float64(i)*step
		path = append(path, sheet.Point{X: left, Y: y}, sheet.Point{X: min(left+step, end), Y: y})
	}
	return path
}

// merged returns the mean of each n neighbours. The last mean may be of fewer.
func merged(means []float64, n int) []float64 {
	var all []float64
	for some := range slices.Chunk(means, n) {
		sum := 0.
		for _, mean := range some {
			sum += mean
		}
		all = append(all, sum/float64(len(some)))
	}
	return all
}
