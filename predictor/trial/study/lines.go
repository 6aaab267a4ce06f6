package study

import (
	"fmt"
	"slices"
)

// line declares a row of a report: its name, the paper's number, and what
// computes ours.
type line struct {
	name, unit string
	paper      *float64 // nil if the paper gives no number
	ours       quantity
	note       string // explains a difference
}

// paper is a number that a paper gives.
func paper(x float64) *float64 { return &x }

// table computes the rows that the lines declare.
func (r results) table(title string, lines []line) Table {
	t := Table{Title: title}
	for _, l := range lines {
		t.Rows = append(t.Rows, Row{Name: l.name, Unit: l.unit, Paper: l.paper, Ours: r.interval(l.ours), Note: l.note})
	}
	return t
}

// known returns the lines whose measure is known with at least one seed.
func (r results) known(lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return len(r.sample(l.ours)) == 0 })
}

// singleRuns adds the range of our single runs to the notes of some lines: those whose
// paper's number is outside the confidence interval of our mean. The paper's numbers come
// from a single run.
func (r results) singleRuns(lines []line) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		x := r.sample(l.ours)
		interval := r.interval(l.ours)
		if len(x) < 2 || *l.paper >= interval.Low && *l.paper <= interval.High {
			continue
		}
		if l.note != "" {
			l.note += "; "
		}
		l.note += fmt.Sprintf("single runs: %.4g to %.4g", slices.Min(x), slices.Max(x))
	}
	return lines
}
