package oliner

import (
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	measures := []string{"nodes", "work", "longest"}
	for _, a := range scale() {
		for _, measure := range []string{"qos", "utilisation", "lost", "missed", "goodput", "performed", "turnaround"} {
			measures = append(measures, "a="+tenths(a)+" "+measure)
		}
	}
	studytest.Report(t, Study{}, measures)
}
