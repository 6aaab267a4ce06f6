package command

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

//go:generate go test -count=1 -run=^TestManual$ . -update

// TestManual: the manual pages are those of the commands.
func TestManual(t *testing.T) {
	clitest.Manual(t, newRoot(&Env{Env: cli.Env{Zone: time.UTC}}))
}

// TestManualExplainsColumns: the manual pages explain the columns of tables.
func TestManualExplainsColumns(t *testing.T) {
	env := &Env{Env: cli.Env{Zone: time.UTC}}
	clitest.Explained(t, "varq-status", table.Names(statusColumns(env)))
	clitest.Explained(t, "varq-report", table.Names(reportColumns("")), table.Names(calibrationColumns("")))
	clitest.Explained(t, "varq-nodes", table.Names(nodesCalibrationColumns()))
}
