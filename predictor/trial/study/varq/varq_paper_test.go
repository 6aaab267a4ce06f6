package varq

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
)

// TestPaper: the beginning of DataStar's log shows the results of Table 4 of VARQ
// (2007). Forecasts are at least the probability asked for. With a higher probability fewer
// requests are granted. If nearly all jobs ask, fewer promises are kept than forecast.
func TestPaper(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	paper := machines[0]
	few, more, nearlyAll := cells[0], cells[2], cells[7]
	r := study.ResultsOf(studytest.Outcomes(t, Study{}, o, func(c study.Case) bool {
		return c.Name == few.name(paper) || c.Name == more.name(paper) || c.Name == nearlyAll.name(paper)
	}), o.Seeds)
	found := func(cell cell, value string) study.Interval {
		return r.Interval(study.Of(cell.name(paper), value))
	}
	studytest.Between(t, "10 % at .5: predicted", found(few, "prob"), .5, 1)
	studytest.Between(t, "10 % at .5: kept", found(few, "kept"), .5, 1)
	studytest.Between(t, "10 % at .95: predicted", found(more, "prob"), .95, 1)
	studytest.Between(t, "10 % at .95: kept", found(more, "kept"), .9, 1)
	studytest.Between(t, "10 % at .95: granted", found(more, "granted"), .02, found(few, "granted").Mean)
	studytest.Between(t, "95 % at .75: predicted", found(nearlyAll, "prob"), .75, 1)
	studytest.Between(t, "95 % at .75: kept", found(nearlyAll, "kept"), .3, found(nearlyAll, "prob").Mean)
}
