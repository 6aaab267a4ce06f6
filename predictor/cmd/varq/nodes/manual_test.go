package nodes

import (
	"testing"

	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

// TestManual finds every column in varq-nodes(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, "varq-nodes", table.Names(calibrationColumns()))
}
