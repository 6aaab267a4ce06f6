package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// The place between the axes, on a sheet of 480 by 290.
const (
	left, right = 46, 464
	top, bottom = 44, 252
)

// curve is the picture of a probability trajectory: the probability of a start by the deadline
// against when the job becomes eligible. Places are in the units of the sheet.
type curve struct {
	Title    string
	Line     string // the points of the trajectory
	Enough   []string
	Asked    mark   // the probability asked for; its Text is empty if nobody knows it
	Plan     mark   // the submission that would be taken; its Text is empty if there is none
	Choice   string // why that one
	Levels   []mark
	Times    []mark
	Points   []curvePoint
	Deadline string
	frame
}

// frame are the edges of the place between the axes.
type frame struct{ Left, Right, Top, Bottom int }

// mark is a labelled place. Left is true if the label is to end there, and not begin.
type mark struct {
	X, Y float64
	Text string
	Left bool
}

// curvePoint is a row of the table of a curve.
type curvePoint struct {
	BeginTime, TimeLimit, Prob string
	Chosen                     bool
}

// mostPoints is about how many rows the table of a curve has.
const mostPoints = 50

// newCurve returns the picture of an answer, or nil if it has no trajectory.
func newCurve(a *api.PlanAnswer, r *api.PlanRequest, zone *time.Location) *curve {
	points := a.Trajectory
	if len(points) == 0 || r.BeginBy <= points[0].BeginTime {
		return nil
	}
	asked := r.Prob
	if a.Plan != nil {
		asked = a.Plan.Prob
	}
	first := points[0].BeginTime
	x := func(at int64) float64 {
		return left + (right-left)*float64(at-first)/float64(r.BeginBy-first)
	}
	y := func(p float64) float64 { return bottom - (bottom-top)*p }
	c := &curve{
		Title:    fmt.Sprintf("Probability of running by %s, by when the job becomes eligible", slurmtime.Format(r.BeginBy, zone)),
		Deadline: slurmtime.Format(r.BeginBy, zone), frame: frame{left, right, top, bottom}, Choice: "cheapest",
	}
	if r.BestEffort {
		c.Choice = "earliest" // all cost the same
	}
	if asked > 0 {
		c.Asked = mark{X: right, Y: y(asked), Text: prob.Format(asked) + " asked"}
	}
	for i := range 6 {
		p := float64(i) / 5
		c.Levels = append(c.Levels, mark{Y: y(p), Text: fmt.Sprintf("%.1f", p)})
	}
	c.Times = times(first, r.BeginBy, zone, x)
	var line, enough strings.Builder
	for i, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", x(p.BeginTime), y(p.Prob))
		if i+1 == len(points) {
			fmt.Fprintf(&line, "%.1f,%.1f", x(r.BeginBy), y(p.Prob))
		}
		if asked > 0 && p.Prob >= asked {
			if enough.Len() == 0 {
				fmt.Fprintf(&enough, "%.1f,%d ", x(p.BeginTime), bottom)
			}
			fmt.Fprintf(&enough, "%.1f,%.1f ", x(p.BeginTime), y(p.Prob))
			if i+1 == len(points) || points[i+1].Prob < asked {
				until := p.BeginTime
				if i+1 == len(points) {
					until = r.BeginBy
				}
				fmt.Fprintf(&enough, "%.1f,%.1f %.1f,%d", x(until), y(p.Prob), x(until), bottom)
				c.Enough = append(c.Enough, enough.String())
				enough.Reset()
			}
		}
		if chosen := a.Plan != nil && a.Plan.BeginTime == p.BeginTime; chosen || i%(len(points)/mostPoints+1) == 0 {
			c.Points = append(c.Points, curvePoint{slurmtime.Format(p.BeginTime, zone), slurmtime.FormatDuration(p.TimeLimit), prob.Format(p.Prob), chosen})
		}
	}
	c.Line = line.String()
	if p := a.Plan; p != nil {
		at := min(max(p.BeginTime, first), r.BeginBy)
		c.Plan = mark{X: x(at), Y: y(p.Estimate), Text: fmt.Sprintf("eligible from %s: %s", clock(p.BeginTime, zone), prob.Format(p.Estimate)), Left: x(at) > (left+right)/2}
	}
	return c
}

// times returns some five marks of the time axis, at round times.
func times(first, last int64, zone *time.Location, x func(int64) float64) []mark {
	step := int64(60)
	for _, round := range []int64{300, 600, 900, 1800, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 28 * 86400} {
		if (last-first)/step <= 5 {
			break
		}
		step = round
	}
	_, offset := time.Unix(first, 0).In(zone).Zone()
	shift := int64(offset)
	var marks []mark
	for at := ((first+shift)/step+1)*step - shift; at < last; at += step {
		text := clock(at, zone)
		if step >= 86400 || text == midnight {
			text = time.Unix(at, 0).In(zone).Format("Jan 2")
		}
		marks = append(marks, mark{X: x(at), Text: text})
	}
	return marks
}

// midnight is as clock writes it: there the day is named.
const midnight = "00:00"

// clock writes a time of day.
func clock(at int64, zone *time.Location) string { return time.Unix(at, 0).In(zone).Format("15:04") }
