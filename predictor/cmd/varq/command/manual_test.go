package command

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// TestManual finds every command, option and column in varq(1).
func TestManual(t *testing.T) {
	data, err := os.ReadFile("../../../../packaging/man/varq.1")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(data)
	mentions := func(what, macro string) {
		t.Helper()
		if !strings.Contains(manual, macro) {
			t.Errorf("varq(1) has no %s (%q)", what, macro)
		}
	}
	env := &Env{Zone: time.UTC}
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
	for _, columns := range []string{
		table.Names(statusColumns(env)), table.Names(reportColumns("")), table.Names(calibrationColumns("")),
		table.Names(othersColumns()[1:]), table.Names(reserversColumns()[1:]),
		table.Names(quantileColumns(&backtest.Part{}, 0)[1:]), table.Names(promiseColumns()[1:]), strings.Join(methodNames(), ","),
	} {
		for name := range strings.SplitSeq(columns, ",") {
			if !regexp.MustCompile(`(?m)^\.It Cm .*\b` + name + `\b`).MatchString(manual) {
				t.Errorf("varq(1) has no column %s", name)
			}
		}
	}
}
