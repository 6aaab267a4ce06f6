package daemon

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

var (
	sample     = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	labelled   = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)\\?"`)
	metricUsed = regexp.MustCompile(`\b((?:varq|process)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
)

// TestContribNamesMetrics: the rules for Prometheus and the dashboard name only metrics, and labels
// of them, that varqd exports.
func TestContribNamesMetrics(t *testing.T) {
	c := testConfig(t)
	c.Forecasters = []config.Forecaster{{Name: "broken", Command: "/bin/false"}}
	fake := &fakeSlurm{past: quick(1000)}
	asking, _ := run(t, c, fake)
	eventually(t, asking, well)
	fake.runOne(t, asking)
	within(t, func() bool {
		scored, err := asking.Calibration(t.Context(), api.CalibrationQuery{})
		return err == nil && len(scored.Rows) > 0
	})
	// The scorer is told of the start before the histograms of waits are.
	within(t, func() bool {
		p, err := asking.Predict(t.Context(), api.PredictRequest{Job: workload.Request{Limit: 600}})
		return err == nil && p.Running == 1
	})
	labels := map[string]map[string]bool{}
	for _, line := range sample.FindAllStringSubmatch(metrics(t, c.Server.Socket), -1) {
		if labels[line[1]] == nil {
			// which Prometheus adds
			labels[line[1]] = map[string]bool{"job": true, "instance": true}
		}
		for _, label := range labelled.FindAllStringSubmatch(line[2], -1) {
			labels[line[1]][label[1]] = true
		}
	}
	for _, path := range []string{"prometheus/varq.rules.yaml", "prometheus/varq.rules.test.yaml", "grafana/varq.json"} {
		text, err := os.ReadFile("../../../contrib/" + path)
		if err != nil {
			t.Fatal(err)
		}
		used := metricUsed.FindAllStringSubmatch(string(text), -1)
		if len(used) < 20 {
			t.Errorf("%s names %d metrics", path, len(used))
		}
		for _, use := range used {
			known, exported := labels[use[1]]
			if !exported {
				t.Errorf("%s: varqd does not export %s", path, use[1])
				continue
			}
			for _, label := range labelled.FindAllStringSubmatch(use[2], -1) {
				if !known[label[1]] {
					t.Errorf("%s: %s has no label %s", path, strings.TrimSpace(use[0]), label[1])
				}
			}
		}
	}
}
