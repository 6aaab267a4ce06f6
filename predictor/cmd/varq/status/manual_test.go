package status

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

// TestManual finds every column in varq-status(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, "varq-status", table.Names(allColumns(&cli.Env{Zone: time.UTC})))
}
