package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/said"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// None is shown where there is no value.
const None = "-"

// Share shows a fraction.
func Share(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// Interval shows a share with the ends of its interval.
func Interval(share, low, high float64) string {
	return fmt.Sprintf("%s [%s, %s]", Share(share), Share(low), Share(high))
}

// Percent shows a fraction as a percentage.
func Percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// NodeHours shows node-seconds as node-hours.
func NodeHours(seconds float64) string { return strconv.FormatFloat(seconds/3600, 'f', 2, 64) }

// Rounded shows a duration that need not be a whole number of seconds.
func Rounded(d float64) string { return slurmtime.FormatDuration(int64(math.Round(d))) }

// Count returns a number with the word for one or for many things.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Thousands shows a number with commas between its thousands.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Listing is a text of indented lines with a name each.
type Listing struct {
	strings.Builder
	Width int // of the names, in characters
}

// Line appends a line.
func (l *Listing) Line(name, format string, args ...any) {
	fmt.Fprintf(l, "  %-*s %s\n", l.Width, name, Printable(fmt.Sprintf(format, args...)))
}

// Printable returns a text of one line as a terminal may show it: with ? for each character that
// cannot be printed. People write some texts, such as why a node is drained.
func Printable(text string) string { return said.Printable(text) }

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
