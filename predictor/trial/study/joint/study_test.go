package joint

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	var measures []string
	for n := range 6 {
		for _, kind := range kinds {
			for _, sum := range []string{"asked", "came", "correlation"} {
				measures = append(measures, fmt.Sprintf("%s %s %d", sum, kind.name, n))
			}
		}
		for _, of := range []string{"n", "said", "kept"} {
			measures = append(measures, fmt.Sprintf("%s example %d", of, n), fmt.Sprintf("%s each 2 %d", of, n))
			for _, m := range methods {
				measures = append(measures, fmt.Sprintf("%s any 1 %s %d", of, m.name, n), fmt.Sprintf("%s any 3 %s %d", of, m.name, n))
			}
		}
	}
	studytest.Report(t, Study{}, measures)
}
