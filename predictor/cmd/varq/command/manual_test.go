package command

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

// TestManual finds every command, option and column in varq(1).
func TestManual(t *testing.T) {
	env := &Env{Env: cli.Env{Zone: time.UTC}}
	clitest.Described(t, newRoot(env))
	clitest.Explained(t, "varq", table.Names(statusColumns(env)), table.Names(reportColumns("")), table.Names(calibrationColumns("")), table.Names(nodesCalibrationColumns()))
}
