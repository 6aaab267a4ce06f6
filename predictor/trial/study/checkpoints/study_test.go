package checkpoints

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

func TestReport(t *testing.T) {
	var measures []string
	for n := range 6 {
		measures = append(measures, fmt.Sprintf("work %d", n))
		for _, rule := range allRules() {
			measures = append(measures, fmt.Sprintf("overhead %d %s", n, rule.name), fmt.Sprintf("lost %d %s", n, rule.name))
		}
	}
	studytest.Report(t, Study{}, measures)
}
