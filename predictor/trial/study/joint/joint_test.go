package joint

import (
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/studytest"
)

// TestDependence: on the beginnings of real logs, two users of one machine are less independent
// than VARQ takes sites to be, and any of their jobs starts at least as often as the lower bound
// says. So it is at made-up sites with common troubles.
func TestDependence(t *testing.T) {
	o := study.Options{Quick: true, Seeds: 1, Traces: trace.Folder(archive.Folder(t)), Background: func(task func()) { go task() }}
	asked := map[string]bool{"two users of SDSC-SP2": true, "made up, with common troubles": true}
	r := study.ResultsOf(studytest.Outcomes(t, Study{}, o, func(c study.Case) bool { return asked[c.Name] }), o.Seeds)
	for _, s := range settings {
		if !asked[s.name] {
			continue
		}
		studytest.Between(t, s.name+": correlation", study.Percent(s.weeks(r, "correlation any"), s.weeks(r, "asked any")), 5, 60)
		plain, bound := s.share(r, "any 3 independence"), s.share(r, "any 3 lower bound")
		studytest.Between(t, s.name+": kept of .95 by independence", plain.kept, 70, 96)
		studytest.Between(t, s.name+": kept of .95 by the lower bound", bound.kept, bound.said.Mean-1, 100)
	}
}
