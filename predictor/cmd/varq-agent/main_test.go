package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// TestManual finds every option of the usage in varq-agent(8).
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../../packaging/man/varq-agent.8")
	if err != nil {
		t.Fatal(err)
	}
	options := regexp.MustCompile(`(?m)^  (?:-N, )?--[a-z]+`).FindAllString(usage, -1)
	for _, option := range options {
		_, name, _ := strings.Cut(option, "--")
		if !strings.Contains(string(manual), "Fl Fl "+name) {
			t.Errorf("varq-agent(8) has no --%s", name)
		}
	}
	if len(options) != 8 {
		t.Errorf("the usage has the options %q", options)
	}
}

func TestOnce(t *testing.T) {
	root := t.TempDir()
	mc := filepath.Join(root, "sys/devices/system/edac/mc/mc0")
	if err := os.MkdirAll(mc, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mc, "ce_count"), []byte("17\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (code int, stdout, stderr string) {
		var out, err strings.Builder
		code = run(t.Context(), args, func(string) string { return "" }, &out, &err)
		return code, out.String(), err.String()
	}
	code, out, _ := call("--once", "-N", "n1", "--root", root)
	if code != 0 || !strings.HasPrefix(out, "n1 at ") || !strings.Contains(out, "memory_errors_corrected of mc0") || !strings.HasSuffix(out, " 17\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	code, out, _ = call("--once", "--json", "--root", root)
	var v api.Vitals
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Node == "" || strings.Contains(v.Node, ".") || len(v.Signals) != 1 {
		t.Errorf("exit code %d: %s, %v", code, out, err)
	}
	if code, out, _ = call("--version"); code != 0 || !strings.HasPrefix(out, "varq-agent ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ = call("--help"); code != 0 || out != usage {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--interval=1s"}, 2, "--interval: 1s does not lie between 10s and 24h0m0s"},
		{[]string{"--interval=soon"}, 2, "-interval"},
		{[]string{"--json"}, 2, "--json goes with --once"},
		{[]string{"n1"}, 2, `"n1" is not an option`},
		{[]string{"--nodes=n1"}, 2, "-nodes"},
		{[]string{"--config=/nonexistent"}, 1, "--config: "},
		{[]string{"--once", "--root=/nonexistent"}, 1, "nothing can be measured below /nonexistent"},
		{[]string{"--config=" + filepath.Join(mc, "ce_count")}, 1, "ce_count"},
	} {
		if code, _, said := call(c.args...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit code %d, %q", c.args, code, said)
		}
	}
}
