package moldable

import (
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	measures := []string{"saved", "losers", "slower", "busier", "turnaround", "of moldable", "wait", "busy", "efficient", "larger", "smaller", "jobs"}
	for _, way := range append([]string{wayAsked, wayOPT}, aloneWays...) {
		measures = append(measures, way, way+" moves", way+" loses")
	}
	studytest.Report(t, Study{}, measures)
}

func TestDowneyReport(t *testing.T) {
	studytest.Report(t, Downey{}, []string{
		"spoiled", "rebels", "losers", "saved", "lost", "median", "mean", "heavier", "duration", "durations",
		"correlation", "slope", "intercept", "turnaround", "slower", "busier",
	})
}
