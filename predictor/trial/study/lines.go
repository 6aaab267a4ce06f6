package study

import (
	"fmt"
	"slices"
)

// Line declares a row of a report: its name, the paper's number, and what
// computes ours.
type Line struct {
	Name, Unit string
	Paper      *float64 // nil if the paper gives no number
	Ours       Quantity
	Note       string // explains a difference
}

// Paper is a number that a paper gives.
func Paper(x float64) *float64 { return &x }

// Table computes the rows that the lines declare.
func (r Results) Table(title string, lines []Line) Table {
	t := Table{Title: title}
	for _, l := range lines {
		t.Rows = append(t.Rows, Row{Name: l.Name, Unit: l.Unit, Paper: l.Paper, Ours: r.Interval(l.Ours), Note: l.Note})
	}
	return t
}

// Known returns the lines whose measure is known with at least one seed.
func (r Results) Known(lines []Line) []Line {
	return slices.DeleteFunc(lines, func(l Line) bool { return len(r.Sample(l.Ours)) == 0 })
}

// SingleRuns adds the range of our single runs to the notes of some lines: those whose
// paper's number is outside the confidence interval of our mean. The paper's numbers come
// from a single run.
func (r Results) SingleRuns(lines []Line) []Line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		x := r.Sample(l.Ours)
		interval := r.Interval(l.Ours)
		if len(x) < 2 || *l.Paper >= interval.Low && *l.Paper <= interval.High {
			continue
		}
		if l.Note != "" {
			l.Note += "; "
		}
		l.Note += fmt.Sprintf("single runs: %.4g to %.4g", slices.Min(x), slices.Max(x))
	}
	return lines
}
