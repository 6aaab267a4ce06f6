package packaging

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/test/cluster"
)

const rulesPath = "../contrib/prometheus/varq.rules.yaml"

// ruleFile is a file of Prometheus' rules.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Record, Alert, Expr string
			Labels, Annotations map[string]string
		}
	}
}

func readRules(t *testing.T) (rules ruleFile) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, rulesPath)), &rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// promtool runs Prometheus' promtool, which it installs if it is missing.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		if err := cluster.InstallPackages(t.Context(), "to check what is for Prometheus and Grafana", "prometheus"); err != nil {
			t.Skip("promtool is missing: ", err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestRules: Prometheus takes the rules, and they do what their own tests say.
func TestRules(t *testing.T) {
	promtool(t, "check", "rules", rulesPath)
	promtool(t, "test", "rules", "../contrib/prometheus/varq.rules.test.yaml")
}

// TestAlertsAreExplained: an alert says what is, what that means and what to do, with commands that
// there are; and there is a test in which it fires.
func TestAlertsAreExplained(t *testing.T) {
	tests := read(t, "../contrib/prometheus/varq.rules.test.yaml")
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
				t.Errorf("%s has the severity %q", rule.Alert, rule.Labels["severity"])
			}
			for _, name := range []string{"summary", "description", "runbook"} {
				if rule.Annotations[name] == "" {
					t.Errorf("%s has no %s", rule.Alert, name)
				}
			}
			if !strings.Contains(rule.Annotations["runbook"], "'") {
				t.Errorf("the runbook of %s names no command", rule.Alert)
			}
			wantCommands(t, rule.Alert, rule.Annotations["runbook"])
			if !strings.Contains(tests, `ALERTS{alertname="`+rule.Alert+`", alertstate="firing", severity="`+rule.Labels["severity"]+`"`) {
				t.Errorf("%s fires in no test", rule.Alert)
			}
		}
	}
}

var (
	command  = regexp.MustCompile(`'(varqd?) ([^']*)'`)
	longFlag = regexp.MustCompile(`--([a-z-]+)`)
)

// wantCommands fails the test unless the manual pages know the commands of varq's that a text has
// in quotation marks.
func wantCommands(t *testing.T, where, text string) {
	t.Helper()
	for _, found := range command.FindAllStringSubmatch(text, -1) {
		page, words := "man/varqd.8", strings.Fields(found[2])
		if found[1] == "varq" {
			page = "man/varq-" + words[0] + ".1"
		}
		manual := read(t, page)
		for _, flag := range longFlag.FindAllStringSubmatch(found[2], -1) {
			if !regexp.MustCompile(`Fl Fl ` + flag[1] + `\b`).MatchString(manual) {
				t.Errorf("%s: %s does not know %s", where, page, flag[0])
			}
		}
	}
}
