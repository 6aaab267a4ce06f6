package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Markdown returns the report as a page in Markdown. The page shows each figure as the
// file NAME.svg in its own folder.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n", r.Name, r.Title)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n## %s\n\n| | paper | ours | 95 %% CI | note |\n|---|---:|---:|---:|---|\n", t.Title)
		for _, row := range t.Rows {
			paper, ours, interval := row.Numbers()
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(row.Label()), paper, ours, interval, cell(row.Note))
		}
	}
	if len(r.Differences) > 0 {
		b.WriteString("\n## How the setting differs from the paper's\n\n")
		for _, d := range r.Differences {
			fmt.Fprintf(&b, "- %s\n", d)
		}
	}
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "\n![%s](%s.svg)\n", f.Title, f.Name)
	}
	return b.String()
}

// cell escapes text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Label returns the row's name with its unit.
func (r Row) Label() string {
	if r.Unit == "" {
		return r.Name
	}
	return r.Name + ", " + r.Unit
}

// Numbers returns the paper's number, our number and its confidence interval as text. All
// have the same number of decimals, at most two: the number that gives the greatest of them
// three significant digits. An unknown number is "-".
func (r Row) Numbers() (paper, ours, interval string) {
	paper, ours, interval = "-", "-", "-"
	greatest := math.Abs(r.Ours.Mean)
	if r.Paper != nil {
		greatest = max(greatest, math.Abs(*r.Paper))
	}
	decimals := 2
	for ; greatest >= 10 && decimals > 0; greatest /= 10 {
		decimals--
	}
	write := func(x float64) string { return strconv.FormatFloat(x, 'f', decimals, 64) }
	if r.Paper != nil {
		paper = write(*r.Paper)
	}
	if r.Ours.N > 0 {
		ours = write(r.Ours.Mean)
	}
	if r.Ours.N > 1 {
		interval = write(r.Ours.Low) + " to " + write(r.Ours.High)
	}
	return paper, ours, interval
}
