package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// diagram is a reliability diagram: how often probabilities came true, against how large they were.
// Those of a calibrated forecaster lie on the diagonal. Places are in the units of the sheet.
type diagram struct {
	ID     string
	Title  string
	Line   string
	Dots   []dot
	Levels []mark
	Shares []mark
	Bins   []binRow
	Few    int // of Bins, how many have too few probabilities for a dot
	frame
}

// leastDrawn is the least number of probabilities for a dot: a share of fewer says next to nothing,
// and its dot would look as true as the others.
const leastDrawn = 20

// dot has the probabilities in a twentieth of [0,1]. Its area is proportional to their number.
type dot struct{ X, Y, Radius float64 }

type binRow struct{ Count, Mean, True string }

// newDiagram returns the diagram of a row, or nil if nothing was forecast.
func newDiagram(row *api.CalibrationRow) *diagram {
	if len(row.Reliability) == 0 {
		return nil
	}
	d := &diagram{ID: "diagram-" + row.Of, Title: "Probabilities of a start in time, and how often they came true", frame: frame{left, right, top, bottom}}
	if row.Of == api.OfEnd {
		d.Title = "Probabilities of an end in time, and how often they came true"
	}
	x := func(p float64) float64 { return left + (right-left)*p }
	y := func(p float64) float64 { return bottom - (bottom-top)*p }
	for i := range 6 {
		p := float64(i) / 5
		d.Levels = append(d.Levels, mark{Y: y(p), Text: fmt.Sprintf("%.1f", p)})
		d.Shares = append(d.Shares, mark{X: x(p), Text: fmt.Sprintf("%.1f", p)})
	}
	all := 0
	for _, b := range row.Reliability {
		all += b.Count
	}
	var line strings.Builder
	const largest = 14
	for _, b := range row.Reliability {
		if b.Count < leastDrawn {
			d.Few++
		} else {
			fmt.Fprintf(&line, "%.1f,%.1f ", x(b.Mean), y(b.True))
			d.Dots = append(d.Dots, dot{x(b.Mean), y(b.True), max(1.5, largest*math.Sqrt(float64(b.Count)/float64(all)))})
		}
		d.Bins = append(d.Bins, binRow{cli.Thousands(b.Count), cli.Share(b.Mean), cli.Share(b.True)})
	}
	d.Line = line.String()
	return d
}
