package packaging

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"go.yaml.in/yaml/v3"
)

// readDashboard reads contrib/grafana/varq.json by Grafana's own schema: a field that it does not
// have, or another type, fails the test.
func readDashboard(t *testing.T) (d dashboard.Dashboard) {
	t.Helper()
	plugins.RegisterDefaultPlugins()
	text := []byte(read(t, "../contrib/grafana/varq.json"))
	// it may be a list of no errors
	if err := new(dashboard.Dashboard).UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// panels calls do for each panel of a dashboard that is not a row.
func panels(d dashboard.Dashboard, do func(name string, p *dashboard.Panel)) {
	row := ""
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			row = *p.RowPanel.Title
			continue
		}
		do(row+": "+*p.Panel.Title, p.Panel)
	}
}

// queries returns the expressions of a panel, by their ids.
func queries(p *dashboard.Panel) map[string]string {
	found := map[string]string{}
	for _, target := range p.Targets {
		if q, ok := target.(*prometheus.Dataquery); ok && q.RefId != nil {
			found[*q.RefId] = q.Expr
		}
	}
	return found
}

// TestDashboardIsLaidOut: each panel has its place and an id of its own, asks the Prometheus that
// the reader chooses, and says what is good and what to do otherwise, with commands that there are.
func TestDashboardIsLaidOut(t *testing.T) {
	d := readDashboard(t)
	variables := map[string]bool{}
	for _, v := range d.Templating.List {
		variables["$"+v.Name] = true
	}
	if !variables["$datasource"] || !variables["$instance"] {
		t.Errorf("the variables are %v", variables)
	}
	ids, taken, rows := map[uint32]bool{}, map[[2]uint32]string{}, 0
	place := func(name string, id *uint32, at *dashboard.GridPos) {
		if id == nil || at == nil || ids[*id] || at.W == 0 || at.H == 0 || at.X+at.W > 24 {
			t.Errorf("%s has no place or id of its own: %+v", name, at)
			return
		}
		ids[*id] = true
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other := taken[[2]uint32{x, y}]; other != "" {
					t.Fatalf("%s covers %s", name, other)
				}
				taken[[2]uint32{x, y}] = name
			}
		}
	}
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			rows++
			place(*p.RowPanel.Title, &p.RowPanel.Id, p.RowPanel.GridPos)
		}
	}
	if rows != 5 {
		t.Errorf("there are %d rows", rows)
	}
	panels(d, func(name string, p *dashboard.Panel) {
		place(name, p.Id, p.GridPos)
		about := *p.Description
		if !regexp.MustCompile(`(?s)^\S.*\.\n\n\*\*Good:\*\* \S.*\.\n\n\*\*Otherwise:\*\* \S.*\.$`).MatchString(about) {
			t.Errorf("%s is described as %q", name, about)
		}
		wantCommands(t, name, about)
		if p.Datasource == nil || *p.Datasource.Uid != "${datasource}" || len(p.Targets) == 0 || len(queries(p)) != len(p.Targets) {
			t.Errorf("%s asks %v, not the chosen Prometheus, or twice the same", name, queries(p))
		}
		for _, expr := range queries(p) {
			for _, variable := range regexp.MustCompile(`\$\w+`).FindAllString(expr, -1) {
				if !variables[variable] && variable != "$__rate_interval" {
					t.Errorf("%s has the unknown variable %s", name, variable)
				}
			}
			if strings.Count(expr, "{") != strings.Count(expr, `{instance=~"$instance"`) {
				t.Errorf("%s does not ask the chosen varqds alone: %s", name, expr)
			}
		}
	})
}

// TestDashboardQueries: Prometheus understands each query, and what it takes from a recording rule
// is recorded.
func TestDashboardQueries(t *testing.T) {
	recorded := map[string]bool{}
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			recorded[rule.Record] = true
		}
	}
	type rule struct{ Record, Expr string }
	var rules []rule
	panels(readDashboard(t), func(name string, p *dashboard.Panel) {
		for id, expr := range queries(p) {
			for _, series := range regexp.MustCompile(`varq:[a-z0-9_:]+`).FindAllString(expr, -1) {
				if !recorded[series] {
					t.Errorf("%s shows %s, which no rule records", name, series)
				}
			}
			expr = strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(expr)
			rules = append(rules, rule{fmt.Sprintf("panel%d:%s", *p.Id, id), expr})
		}
	})
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}
