package varq

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	studytest.Report(t, Study{}, slices.Concat(studytest.Scenario, []string{"wait without", "utilisation without"}))
}

func TestForecastersReplay(t *testing.T) { studytest.Replays(t, Forecasters{}) }

func TestForecastersReport(t *testing.T) {
	studytest.Report(t, Forecasters{}, slices.Concat(studytest.Scenario, []string{
		"slowdown", "wait without", "slowdown without", "overhead of kept", "kept promises",
		"asked in outages", "promised in outages", "kept in outages", "down in outages",
	}))
}
