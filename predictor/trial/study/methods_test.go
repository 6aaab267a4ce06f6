package study

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/test/archive"
)

// TestForecasters finds, in the beginning of a log, that the blend lets more
// requests be accepted than plain QBETS does, that it keeps what it promises, and that
// less is held for it.
func TestForecasters(t *testing.T) {
	o := Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t))}
	const log = "CTC-SP2-1996"
	plain, blend := asInPaper(log), asVarqd(log)
	r := resultsOf(outcomes(t, Methods{}, o, func(c Case) bool { return c.Name == plain.name() || c.Name == blend.name() }), o.Seeds)
	between(t, "accepted", r.interval(blend.of("granted")), r.interval(plain.of("granted")).Mean, 1)
	between(t, "kept", r.interval(blend.of("kept")), methodProb, 1)
	between(t, "cost", r.interval(blend.of("cost")), 1, r.interval(plain.of("cost")).Mean)
}
