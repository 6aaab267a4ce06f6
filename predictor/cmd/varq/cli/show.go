package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// None stands for a value that there is not.
const None = "-"

// Share shows a fraction of many.
func Share(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// Percent shows a fraction in per cent.
func Percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// Rounded shows a mean of durations, in seconds.
func Rounded(d float64) string { return slurmtime.FormatDuration(int64(math.Round(d))) }

// Thousands shows a count with its thousands apart.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Listing is a text whose lines each have a name in front.
type Listing struct {
	strings.Builder
	Width int // of the names, in characters
}

// Line adds a line.
func (l *Listing) Line(name, format string, args ...any) {
	fmt.Fprintf(l, "  %-*s %s\n", l.Width, name, fmt.Sprintf(format, args...))
}

// WriteJSON shows v in JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
