package faults

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	measures := []string{
		"failed", "gain", "gain low", "gain high", "own", "fading", "over own", "over fading", "expected", "precision", "lift",
		"said 1", "came 1", "days 1", "said 2", "came 2", "days 2",
	}
	for _, size := range setSizes {
		for _, of := range []string{"hits", "gain", "expected"} {
			measures = append(measures, fmt.Sprint(of, " ", size))
		}
	}
	studytest.Report(t, Study{}, measures)
}
