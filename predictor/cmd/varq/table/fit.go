package table

import (
	"slices"
	"unicode/utf8"
)

// minLong is the width, in characters, to which Fit narrows a Long column before it leaves
// out others.
const minLong = 28

// Fit returns the columns for which a line of width characters has room, and those that it
// left out. It narrows the Long column first, to some words, then leaves out Spare columns,
// and then narrows the Long column as far as its header. What does not fit even so is wider
// than the line.
func Fit[R any](columns []Column[R], records []R, width int) (fitting, left []Column[R]) {
	fitting = slices.Clone(columns)
	for i := range fitting {
		c := &fitting[i]
		c.Long = c.Long && c.Width == 0 // a width that was asked for stays
		c.Width = c.width(records)
	}
	least := minLong
	for {
		excess := lineWidth(fitting) - width
		if excess <= 0 || narrow(fitting, excess, least) {
			return fitting, left
		}
		if spare := leastSpare(fitting); spare >= 0 {
			left = append(left, fitting[spare])
			fitting = slices.Delete(fitting, spare, spare+1)
			continue
		}
		if least == 0 {
			return fitting, left
		}
		least = 0
	}
}

// narrow makes the Long column narrower by excess characters, unless it would become narrower
// than least or its header. It reports whether it has.
func narrow[R any](columns []Column[R], excess, least int) bool {
	i := slices.IndexFunc(columns, func(c Column[R]) bool { return c.Long })
	if i < 0 {
		return false
	}
	c := &columns[i]
	if c.Width-excess < max(least, utf8.RuneCountInString(c.Name)) {
		return false
	}
	c.Width -= excess
	c.mark = "…"
	return true
}

// width returns the number of characters that the column needs for its header and records.
func (c *Column[R]) width(records []R) int {
	if c.Width != 0 {
		return c.Width
	}
	widest := utf8.RuneCountInString(c.Name)
	for _, r := range records {
		widest = max(widest, utf8.RuneCountInString(c.Value(r)))
	}
	return widest
}

// lineWidth returns the width of a line of columns, whose widths are known.
func lineWidth[R any](columns []Column[R]) int {
	sum := len(columns) - 1 // spaces between them
	for i := range columns {
		sum += columns[i].Width
	}
	return sum
}

// leastSpare returns the index of the column to leave out first, or -1.
func leastSpare[R any](columns []Column[R]) int {
	least := -1
	for i := range columns {
		if columns[i].Spare > 0 && (least < 0 || columns[i].Spare < columns[least].Spare) {
			least = i
		}
	}
	return least
}
