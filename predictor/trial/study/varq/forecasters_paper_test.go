package varq

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
	"github.com/varq-project/varq/test/thorough"
)

// TestForecasters: on the beginning of a log, with the blend more requests are accepted
// than with plain QBETS, the promises are kept, and the overhead is less. One seed makes
// some 230 promises, which tell the share that is kept to two percent: too coarsely.
func TestForecasters(t *testing.T) {
	thorough.Only(t)
	o := study.Options{Quick: true, Seeds: 3, Traces: trace.Folder(archive.Folder(t)), Background: func(task func()) { go task() }}
	const log = "CTC-SP2-1996"
	plain, blend := asInPaper(log), asVarqd(log)
	r := study.ResultsOf(studytest.Outcomes(t, Forecasters{}, o, func(c study.Case) bool { return c.Name == plain.name() || c.Name == blend.name() }), o.Seeds)
	studytest.Between(t, "accepted", r.Interval(blend.of("granted")), r.Interval(plain.of("granted")).Mean, 1)
	studytest.Between(t, "kept", r.Interval(blend.of("kept")), methodProb, 1)
	studytest.Between(t, "cost", r.Interval(blend.of("cost")), 1, r.Interval(plain.of("cost")).Mean)
}
