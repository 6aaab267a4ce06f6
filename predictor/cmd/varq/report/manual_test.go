package report

import (
	"testing"

	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

// TestManual finds every column in varq-report(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, "varq-report", table.Names(reportColumns("")), table.Names(calibrationColumns("")), table.Names(nearColumns("")))
}
