package study

import (
	"fmt"
	"slices"
)

// line declares a row of a report: what it is about, the paper's number, and how ours
// is computed.
type line struct {
	name, unit string
	paper      *float64 // nil where the paper gives none
	ours       measure
	note       string // what explains a difference
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

// known returns the lines of which some number is known.
func (r results) known(lines []line) []line {
	return slices.DeleteFunc(lines, func(l line) bool { return len(r.sample(l.ours)) == 0 })
}

// singleRuns adds to the notes how far single runs of ours are apart, where a paper's
// number, which comes from a single run, is outside the interval of our mean.
func (r results) singleRuns(lines []line) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		x := r.sample(l.ours)
		interval := intervalOf(x)
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
