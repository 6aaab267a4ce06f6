package deadlines

import (
	"testing"

	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

// TestReport: a report without values still has every row.
func TestReport(t *testing.T) { studytest.Report(t, Study{}, nil) }
