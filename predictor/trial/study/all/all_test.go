package all

import (
	"testing"

	"github.com/varq-project/varq/predictor/trial/study"
)

func TestCasesAreUnique(t *testing.T) {
	for name, s := range Studies() {
		for _, o := range []study.Options{{}, {Quick: true}, {Seeds: 7}} {
			seen := map[study.Case]bool{}
			for _, c := range s.Cases(o) {
				if seen[c] {
					t.Errorf("%s %+v: %+v is there twice", name, o, c)
				}
				seen[c] = true
			}
			if len(seen) == 0 {
				t.Errorf("%s %+v has no cases", name, o)
			}
		}
		if report := s.Report(study.Options{}, nil); report.Name != name {
			t.Errorf("%s: the report is %s's", name, report.Name)
		}
	}
}
