package roblitz

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	measures := []string{"wait", "days", "load", "booked", "tries", "wait without", "longer", "shorter"}
	for _, minutes := range longerBy {
		measures = append(measures, fmt.Sprint("longer ", minutes))
	}
	for _, prefix := range []string{"", "failed "} {
		measures = append(measures, prefix+"candidates", prefix+"probable", prefix+"by workload", prefix+"by conflict")
	}
	studytest.Report(t, Study{}, measures)
}
