package plugintest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quiet: tools that read both outputs of sbatch as one text find the job's number in it, as with a
// job without varq's options, if the user or her site wants promises unsaid. A refusal is said.
func quiet(t *testing.T, l *lab) {
	file, _ := l.script(t, "#SBATCH --begin-by=now+1hour", "")
	site := filepath.Join(l.JobDir(), "quiet.yaml")
	if err := os.WriteFile(site, []byte("client:\n  quiet: true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// an environment that has the promise said comes last
	for _, env := range [][]string{{"VARQ_QUIET=1"}, {"VARQ_CONFIG=" + site}, {"VARQ_CONFIG=" + site, "VARQ_QUIET=0"}} {
		said := len(env) == 2
		r := l.runEnv(t, env, "sbatch", "--time=5", file)
		text := r.stderr + r.stdout // as the one may come before the other
		if r.code != 0 || strings.Contains(text, "varq: promised") != said {
			t.Errorf("%q: exit code %d, said %q", env, r.code, text)
		}
		number := regexp.MustCompile(`(?m)^Submitted batch job (\d+)$`).FindStringSubmatch(text)
		if number == nil {
			t.Fatalf("%q: %q", env, text)
		}
		l.ok(t, "scancel", number[1])
		if said {
			continue
		}
		first := strings.Fields(strings.SplitN(text, "\n", 2)[0])
		id := number[1]
		for tool, got := range map[string]string{
			"R batchtools": first[3],
			"EasyBuild":    regexp.MustCompile(`^Submitted batch job (\d+)`).FindStringSubmatch(text)[1],
			"NorduGrid":    strings.TrimSpace(strings.Replace(text, "Submitted batch job", "", 1)),
		} {
			if got != id {
				t.Errorf("%s takes %q for the number of job %s", tool, got, id)
			}
		}
		if r := l.runEnv(t, env, "sbatch", "--time=5", "--begin=now+1hour", file); r.code == 0 || !strings.Contains(r.stderr, "varq: --begin does not go together") {
			t.Errorf("%q: a refusal: exit code %d, said %q", env, r.code, r.stderr)
		}
	}
}
