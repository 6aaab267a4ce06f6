// Package table prints records in the manner of Slurm's sacct: aligned under a header and
// dashes for people, or separated by bars for scripts. A format, NAME[%[-]WIDTH],...,
// selects columns.
package table

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// maxWidth bounds the width that a format may ask for, in characters.
const maxWidth = 1000

// Column is one field of a record of type R.
type Column[R any] struct {
	// Name is the header. A format may write it in upper or lower case.
	Name string
	// Right aligns the values to the right, as numbers are.
	Right bool
	// Width is the number of characters of the column. A longer value is cut and ends
	// in "+". 0 stands for the width of the widest value.
	Width int
	// Long columns have sentences, which Fit may cut. A cut sentence ends in "…".
	Long bool
	// Spare columns are left out by Fit if the line has no room for them: first those with
	// the smallest number. 0 stands for a column that stays.
	Spare int
	// Value renders the field.
	Value func(R) string
	// Colour, if not nil, is the colour of the field.
	Colour func(R) cli.Colour

	mark string // at the end of a value that is cut, in the place of "+"
}

// Text returns a column of text.
func Text[R any](name string, value func(R) string) Column[R] {
	return Column[R]{Name: name, Value: value}
}

// Number returns a column of numbers, which are aligned to the right.
func Number[R any](name string, value func(R) string) Column[R] {
	return Column[R]{Name: name, Right: true, Value: value}
}

// Style says how to print records.
type Style struct {
	// Parsable separates the values by "|" and does not align or cut them.
	Parsable bool
	// NoHeader leaves out the header.
	NoHeader bool
	// Colour paints the columns that have a Colour, unless Parsable.
	Colour bool
}

// Select returns the columns that format names, in its order. An item of format is NAME,
// NAME%WIDTH (aligned to the right) or NAME%-WIDTH (to the left). The error says which
// item is wrong.
func Select[R any](columns []Column[R], format string) ([]Column[R], error) {
	var selected []Column[R]
	for item := range strings.SplitSeq(format, ",") {
		name, width, sized := strings.Cut(item, "%")
		column, ok := find(columns, name)
		if !ok {
			return nil, fmt.Errorf("no column %q; there are %s", name, Names(columns))
		}
		if sized {
			n, err := strconv.Atoi(width)
			if err != nil || n == 0 || n < -maxWidth || n > maxWidth {
				return nil, fmt.Errorf("column %q: %q is not a width", name, width)
			}
			column.Right = n > 0
			column.Width = max(n, -n)
		}
		selected = append(selected, column)
	}
	return selected, nil
}

// Names returns the names of columns, separated by commas.
func Names[R any](columns []Column[R]) string {
	return strings.Join(headers(columns), ",")
}

func find[R any](columns []Column[R], name string) (Column[R], bool) {
	for _, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return Column[R]{}, false
}

// Write prints the records to w.
func Write[R any](w io.Writer, columns []Column[R], records []R, style Style) error {
	lines := make([][]cell, 0, len(records)+1)
	if !style.NoHeader {
		header := make([]cell, len(columns))
		for i, c := range columns {
			header[i].text = c.Name
		}
		lines = append(lines, header)
	}
	for _, r := range records {
		cells := make([]cell, len(columns))
		for i, c := range columns {
			cells[i].text = cli.Printable(c.Value(r))
			if style.Colour && c.Colour != nil {
				cells[i].colour = c.Colour(r)
			}
		}
		lines = append(lines, cells)
	}
	var out strings.Builder
	if style.Parsable {
		for _, cells := range lines {
			out.WriteString(strings.Join(texts(cells), "|") + "\n")
		}
	} else {
		align(&out, columns, lines, !style.NoHeader)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// cell is one value, or a header.
type cell struct {
	text   string
	colour cli.Colour
}

func texts(cells []cell) []string {
	list := make([]string, len(cells))
	for i := range cells {
		list[i] = cells[i].text
	}
	return list
}

func headers[R any](columns []Column[R]) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// align writes lines in columns. If the first is a header, dashes follow it.
func align[R any](out *strings.Builder, columns []Column[R], lines [][]cell, header bool) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = c.Width
		for _, cells := range lines {
			if c.Width == 0 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cells[i].text))
			}
		}
	}
	for n, cells := range lines {
		padded := make([]string, len(cells))
		dashes := make([]string, len(cells))
		for i, cell := range cells {
			text := cut(cell.text, widths[i], cmp.Or(columns[i].mark, "+"))
			padded[i] = pad(text, cell.colour, widths[i], columns[i].Right)
			dashes[i] = strings.Repeat("-", widths[i])
		}
		out.WriteString(strings.TrimRight(strings.Join(padded, " "), " ") + "\n")
		if header && n == 0 {
			out.WriteString(strings.Join(dashes, " ") + "\n")
		}
	}
}

// cut shortens s to width characters. If it shortens s, the last character is mark.
func cut(s string, width int, mark string) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + mark
}

// pad paints s and aligns it in width characters.
func pad(s string, colour cli.Colour, width int, right bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(s))
	if right {
		return space + colour.Paint(s)
	}
	return colour.Paint(s) + space
}
