package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// The size of a diagram, in characters.
const (
	diagramWidth  = 61
	diagramHeight = 21
)

// diagram draws a reliability diagram in characters. The horizontal axis is the probability,
// and the vertical axis the share that came true. Each forecaster has a letter. Dots mark
// the diagonal, where a calibrated forecaster is.
func diagram(rows []api.CalibrationRow) string {
	var cells [diagramHeight][]byte
	for i := range cells {
		cells[i] = []byte(strings.Repeat(" ", diagramWidth))
	}
	put := func(x, y float64, mark byte) {
		column, line := math.Round(min(max(x, 0), 1)*(diagramWidth-1)), math.Round((1-min(max(y, 0), 1))*(diagramHeight-1))
		cells[int(line)][int(column)] = mark
	}
	for i := range diagramHeight {
		p := float64(i) / (diagramHeight - 1)
		put(p, p, '.')
	}
	var key strings.Builder
	for i := len(rows) - 1; i >= 0; i-- { // backwards, so that the first row is on top
		for _, b := range rows[i].Reliability {
			put(b.Mean, b.True, letter(i))
		}
	}
	for i := range rows {
		fmt.Fprintf(&key, "  %c %s", letter(i), rowName(&rows[i]))
	}
	var out strings.Builder
	out.WriteString("Came true\n")
	for i, line := range cells {
		label := ""
		if i%((diagramHeight-1)/4) == 0 {
			label = fmt.Sprintf("%d%%", 100-100*i/(diagramHeight-1))
		}
		fmt.Fprintf(&out, "%5s |%s\n", label, strings.TrimRight(string(line), " "))
	}
	fmt.Fprintf(&out, "%5s +%s\n", "", strings.Repeat("-", diagramWidth))
	out.WriteString("       0%            25%            50%            75%        100% forecast\n")
	fmt.Fprintf(&out, "     %s\n", key.String())
	return out.String()
}

// letter returns the letter of the i-th forecaster.
func letter(i int) byte { return byte('a' + i%26) }
