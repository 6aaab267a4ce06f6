package study

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/test/archive"
)

// TestVARQPaper: the beginning of DataStar's log shows the results of Table 4 of VARQ
// (2007). Forecasts are at least the probability asked for. With a higher probability fewer
// requests are granted. If nearly all jobs ask, fewer promises are kept than forecast.
func TestVARQPaper(t *testing.T) {
	o := Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	paper := varqMachines[0]
	few, more, nearlyAll := varqCells[0], varqCells[2], varqCells[7]
	r := ResultsOf(outcomes(t, VARQ{}, o, func(c Case) bool {
		return c.Name == few.name(paper) || c.Name == more.name(paper) || c.Name == nearlyAll.name(paper)
	}), o.Seeds)
	found := func(cell varqCell, value string) Interval {
		return r.Interval(Of(cell.name(paper), value))
	}
	between(t, "10 % at .5: predicted", found(few, "prob"), .5, 1)
	between(t, "10 % at .5: kept", found(few, "kept"), .5, 1)
	between(t, "10 % at .95: predicted", found(more, "prob"), .95, 1)
	between(t, "10 % at .95: kept", found(more, "kept"), .9, 1)
	between(t, "10 % at .95: granted", found(more, "granted"), .02, found(few, "granted").Mean)
	between(t, "95 % at .75: predicted", found(nearlyAll, "prob"), .75, 1)
	between(t, "95 % at .75: kept", found(nearlyAll, "kept"), .3, found(nearlyAll, "prob").Mean)
}
