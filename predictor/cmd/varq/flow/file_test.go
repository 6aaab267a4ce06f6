package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a job's line may not have is said before any job is submitted.
func TestParseLine(t *testing.T) {
	parse := func(line string) error {
		_, err := Parse(fmt.Appendf(nil, "jobs:\n- {name: first, sbatch: a.sh}\n- {name: next, afterok: first, sbatch: %q}\n", line))
		return err
	}
	for _, line := range []string{
		"job.sh -d 3 --hold -W", "-N 2-4 -t30 --array=1-9%3 -J x job.sh --dependency=afterok:1", "--wrap='run -d afterok:1 -H'", "--exclusive --requeue job.sh -H",
		"--best-effort --begin=now+1hour -- job.sh -H", "--spank-of-another x job.sh", "-n4 \"my job.sh\" --wait",
	} {
		if err := parse(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for line, want := range map[string]string{
		"-d afterok:1 job.sh":             "--dependency does not go together with varq flow: it would take the place of afterok; name a job of the file as 'afterok: first' does",
		"-n4 --dependency=singleton a.sh": "--dependency ", "--depend afterany:3 a.sh": "--dependency ", "-dafterok:1 a.sh": "--dependency ", "--spank-of-another=x -d expand:7 job.sh": "--dependency ",
		"-H job.sh": "--hold does not go together with varq flow: leave it out", "-kH job.sh": "--hold ", "-t 30 --hol job.sh": "--hold ", "--begin-by=17:00 job.sh": "--begin-by does not go together with varq flow: leave it out: 'varq flow FILE --finish-by=TIME", "--finish-by 17:00 job.sh": "--finish-by ",
		"--prob=.9 job.sh": "--prob ", "--parsable job.sh": "--parsable ", "--test-only job.sh": "--test-only ", "-W job.sh": "--wait ", "--wait job.sh": "--wait ",
		"'job.sh": "it is not a command line: a quote (') is not closed",
	} {
		if err := parse(line); err == nil || !strings.HasPrefix(err.Error(), "job next: sbatch: "+want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	// what is not of the file may have others to wait for
	if _, err := Parse([]byte("jobs: [{name: first, sbatch: -d singleton a.sh}]")); err != nil {
		t.Error(err)
	}
	if _, err := Parse([]byte(`{name: "a\nb", jobs: [{name: first, sbatch: a.sh}]}`)); err == nil || err.Error() != "name: it has characters that no name has" {
		t.Error(err)
	}
}

// What is wrong with a file is said in its own words.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"jobs:\n - name: a\n   comand: x\n":  `line 3: nothing is called "comand" here: a file has the keys name and jobs`,
		"jobs: 5\n":                          "line 1: that does not belong here: a file has the keys name and jobs",
		"jobs:\n  - name: a\n   sbatch: x\n": "it is not YAML: line 1: ",
		"":                                   "jobs: a flow has 1 to 500 jobs, and this one 0",
	} {
		path := filepath.Join(dir, "f.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path, nil); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) || strings.Contains(err.Error(), "flow.") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "none.yaml"): "no such file or directory", dir: "is a directory"} {
		if _, err := ReadFile(path, nil); err == nil || err.Error() != path+": "+want {
			t.Errorf("%v", err)
		}
	}
}
