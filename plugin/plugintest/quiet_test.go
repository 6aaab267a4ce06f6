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
	for _, env := range [][]string{{"VARQ_QUIET=1"}, {"VARQ_CONFIG=" + site}, {"SLURM_CONF=" + l.quietPlugin(t)}, {"VARQ_CONFIG=" + site, "VARQ_QUIET=0"}} {
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

// quietPlugin returns the path of a slurm.conf with which the plugin has the argument quiet.
func (l *lab) quietPlugin(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(l.JobDir(), "quiet")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"slurm.conf":     {"PlugStackConfig=" + l.Path("etc"), "PlugStackConfig=" + folder},
		"plugstack.conf": {" wrapper=", " quiet wrapper="},
		"cli_filter.lua": {}, // which Slurm looks for beside slurm.conf
	} {
		text := read(t, l.Path("etc", name))
		if !strings.Contains(text, change[0]) {
			t.Fatalf("%s has no %s", name, change[0])
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Replace(text, change[0], change[1], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "slurm.conf")
}

// tools: what Snakemake, dask-jobqueue and submitit take for the job's number is that, though the
// promise is said: they read standard output alone. None takes what varq says for a failure.
func tools(t *testing.T, l *lab) {
	const deadline = "#SBATCH --begin-by=now+1hour"
	named := func(pattern string) func(string) string {
		return func(out string) string { return append(regexp.MustCompile(pattern).FindStringSubmatch(out), "", "")[1] }
	}
	for name, c := range map[string]struct {
		lines, work string
		args        []string
		number      func(stdout string) string
	}{
		"Snakemake": {deadline, "", []string{"--parsable", "--job-name=5ec3", "--comment=rule_map", "--mem=100", "--cpus-per-task=1"}, func(out string) string {
			id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
			return id
		}},
		"dask-jobqueue": {"#SBATCH -J dask-worker\n#SBATCH -n 1\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=100M\n" + deadline, "", nil, named(`(\d+)`)},
		"submitit":      {"#SBATCH --array=0-2%2\n#SBATCH --signal=USR2@90\n#SBATCH --open-mode=append\n#SBATCH --ntasks-per-node=1\n" + deadline, "", nil, named(`job ([0-9]+)`)},
	} {
		file, _ := l.script(t, c.lines, c.work)
		r := l.runEnv(t, nil, "sbatch", append(c.args, "--time=5", file)...)
		if r.code != 0 || !strings.Contains(r.stderr, "varq: promised") || strings.Contains(r.stderr, "submission failed") || strings.Contains(r.stdout, "varq") {
			t.Errorf("%s: exit code %d, said %q", name, r.code, r.stderr)
		}
		id := regexp.MustCompile(`\d+`).FindString(r.stdout)
		if got := c.number(r.stdout); got != id || id == "" {
			t.Errorf("%s takes %q for the number of job %s", name, got, id)
		}
		l.ok(t, "scancel", id)
	}
}
