package command

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/test/clitest"
)

//go:generate go test -count=1 -run=^TestManual$ . -update

// TestManual: the manual pages are those of the commands.
func TestManual(t *testing.T) {
	clitest.Manual(t, newRoot(&Env{Env: cli.Env{Zone: time.UTC}}, new(link.Link)))
}

func TestHelp(t *testing.T) {
	clitest.Help(t, newRoot(&Env{Env: cli.Env{Zone: time.UTC}}, new(link.Link)))
}
