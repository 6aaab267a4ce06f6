package command

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
)

// TestManual finds every command, option and column in varq(1).
func TestManual(t *testing.T) {
	manual := clitest.Manual(t)
	mentions := func(what, macro string) {
		t.Helper()
		if !strings.Contains(manual, macro) {
			t.Errorf("varq(1) has no %s (%q)", what, macro)
		}
	}
	env := &Env{Env: cli.Env{Zone: time.UTC}}
	root := newRoot(env)
	root.InitDefaultCompletionCmd("bash")
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		option := func(flag *pflag.Flag) {
			macro := "Fl Fl " + flag.Name
			if flag.Shorthand != "" {
				macro = ".It Fl " + flag.Shorthand + " , " + macro
			}
			mentions(cmd.CommandPath()+" --"+flag.Name, macro)
		}
		cmd.LocalFlags().VisitAll(option)
		for _, sub := range cmd.Commands() {
			name := strings.TrimPrefix(sub.CommandPath(), "varq ")
			mentions("command "+name, "\n.It Cm "+name+"\n")
			if sub.Name() != "completion" {
				visit(sub)
			}
		}
	}
	visit(root)
	clitest.Explained(t, table.Names(statusColumns(env)), table.Names(reportColumns("")), table.Names(calibrationColumns("")), table.Names(nodesCalibrationColumns()))
}
