package plugintest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// valgrind checks that valgrind reports no error in the plugin, in an sbatch with a
// reservation and in one without. Only reports with the plugin in their stack count, because
// Slurm itself does not free everything.
func valgrind(t *testing.T, l *lab) {
	const path = "/usr/bin/valgrind"
	if _, err := os.Stat(filepath.Join(l.Root(), path)); err != nil {
		t.Skip(err)
	}
	file, _ := l.script(t, "", "")
	for _, options := range [][]string{{"--begin-by=now+1hour", "--prob=.99", "--best-effort"}, {"--hold"}} {
		args := append([]string{"--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect", "/usr/bin/sbatch", "--parsable"}, options...)
		r := l.run(t, path, append(args, file)...)
		if r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		for complaint := range strings.SplitSeq(r.stderr, "== \n") {
			if strings.Contains(complaint, "spank_varq.so") {
				t.Error(complaint)
			}
		}
		l.ok(t, "scancel", strings.TrimSpace(r.stdout))
	}
}
