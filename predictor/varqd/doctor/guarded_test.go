package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// What varqd runs, and its token, are nobody else's: varqd refuses to start otherwise, and says
// which file it is and what to do.
func TestUnguarded(t *testing.T) {
	root := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	well, open, inOpen := write("well/model", 0o755), write("well/open", 0o757), write("open/model", 0o755)
	if err := os.Chmod(filepath.Dir(inOpen), 0o777); err != nil {
		t.Fatal(err)
	}
	secret, read := write("well/secret", 0o640), write("well/read", 0o644)
	for name, c := range map[string]struct {
		config config.Config
		want   string // "" if all is well
	}{
		"well":             {config.Config{Forecasters: []config.Forecaster{{Command: well}}, Notices: config.Notices{Command: well}, Slurmrestd: config.Slurmrestd{TokenFile: secret}}, ""},
		"missing":          {config.Config{Forecasters: []config.Forecaster{{Command: "/nowhere/model"}}}, ""},
		"a forecaster":     {config.Config{Forecasters: []config.Forecaster{{Command: well}, {Command: open}}}, "forecasters[1].command: " + open + " (mode 0757) can be changed by everybody: chmod o-w " + open},
		"a script":         {config.Config{Forecasters: []config.Forecaster{{Command: "/bin/sh " + open}}}, "forecasters[0].command: " + open + " (mode 0757) can be changed by everybody: chmod o-w " + open},
		"a folder":         {config.Config{Notices: config.Notices{Command: inOpen + " -v"}}, "notices.command: " + filepath.Dir(inOpen) + " (mode 0777) can be changed by everybody: chmod o-w " + filepath.Dir(inOpen)},
		"a token":          {config.Config{Slurmrestd: config.Slurmrestd{TokenFile: read}}, "slurmrestd.token_file: " + read + " (mode 0644) is open to everybody: chmod o= " + read},
		"a token's maker":  {config.Config{Slurmrestd: config.Slurmrestd{TokenCommand: inOpen}}, "slurmrestd.token_command: " + filepath.Dir(inOpen)},
		"another site's":   {config.Config{Sites: []config.Site{{Bare: config.Bare{Slurmrestd: &config.Slurmrestd{TokenFile: read}}}}}, "sites[0].slurmrestd.token_file: " + read},
		"scontrol as ever": {config.Config{Slurmrestd: config.Slurmrestd{TokenCommand: "sh -c true"}}, ""},
	} {
		if err := Unguarded(&c.config); err == nil && c.want != "" || err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
