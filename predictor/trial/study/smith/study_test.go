package smith

import (
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	measures := []string{"run", "limit", "last two", "predicted"}
	for _, kind := range (policy{backfill: withBackfill}).kinds() {
		for _, measure := range studytest.Scenario {
			measures = append(measures, kind.name+" "+measure)
		}
	}
	studytest.Report(t, Study{}, measures)
}
