package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// slurmlab runs the command with arguments and returns what it printed.
func slurmlab(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(t.Output())
	err := cmd.ExecuteContext(t.Context())
	return strings.TrimSpace(out.String()), err
}

func TestUpExecDown(t *testing.T) {
	thorough.Only(t)
	if testing.Short() {
		t.Skip("starts a real Slurm: not in short mode")
	}
	dir, err := slurmlab(t, "up", "--nodes=2", "--history=synthetic", "--history-jobs=100", "--days=2")
	if errors.Is(err, cluster.ErrNotRoot) || errors.Is(err, cluster.ErrNoSlurm) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := slurmlab(t, "down", dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	})
	if got, err := slurmlab(t, "exec", dir, "-u", "bob", "--", "srun", "id", "-un"); err != nil || got != "bob" {
		t.Errorf("exec printed %q, %v", got, err)
	}
	past, err := slurmlab(t, "exec", dir, "-u", "oper", "--", "sacct", "-naXS", "now-3days", "--name=past", "-o", "jobid")
	if err != nil || len(strings.Fields(past)) < 100 {
		t.Errorf("sacct printed %q, %v", past, err)
	}
	var status exitStatus
	if _, err := slurmlab(t, "exec", dir, "--", "sh", "-c", "exit 3"); !errors.As(err, &status) || status != 3 {
		t.Errorf("exec of a failing command: %v", err)
	}
	want := "export SLURM_CONF=" + filepath.Join(dir, "etc", "slurm.conf")
	if got, err := slurmlab(t, "env", dir); err != nil || !strings.Contains(got, want) {
		t.Errorf("env printed %q, %v", got, err)
	}
}

// TestExamples: the examples of the manual page and of up's help, which are the same, work as they
// are printed, with a varq that lies in a folder of its own, of which slurmlab is a part.
func TestExamples(t *testing.T) {
	thorough.Only(t)
	if testing.Short() {
		t.Skip("starts a real Slurm: not in short mode")
	}
	lines := examples(t)
	up, _, err := command().Find([]string{"up"})
	if err != nil {
		t.Fatal(err)
	}
	if help := unindent(up.Example); help != lines {
		t.Errorf("slurmlab(8) has the examples\n%s\nand slurmlab up --help\n%s", lines, help)
	}
	stage := t.TempDir()
	if out, err := exec.Command("make", "--directory=../../../..", "install", "DESTDIR="+stage, "PREFIX=/usr").CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	open(t, stage)
	if err := cluster.Install(t.Context(), cluster.Own(), t.Output()); errors.Is(err, cluster.ErrNoSlurm) {
		t.Skip(err)
	}
	var printed, progress bytes.Buffer
	run := exec.CommandContext(t.Context(), "bash", "-euc", "trap 'slurmlab down $lab' ERR\n"+lines+"echo gone $lab")
	run.Env = append(os.Environ(), "PATH="+filepath.Join(stage, "usr/sbin")+":"+os.Getenv("PATH"))
	run.Stdout, run.Stderr = &printed, &progress
	err = run.Run()
	t.Logf("%s\n%s", &progress, &printed)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"starting slurmdbd", "loading past jobs", "starting varqd", "varq: promised: running by "} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("nobody was told %q", want)
		}
	}
	// PENDING once varqd has found the job
	reserved := regexp.MustCompile(`(?s)\nSubmitted batch job 1\n.*\n +(- PROMISED|1 PENDING) `)
	if !reserved.Match(printed.Bytes()) {
		t.Errorf("nothing was printed of %s", reserved)
	}
	_, lab, _ := strings.Cut(strings.TrimSpace(printed.String()), "gone ")
	if _, err := os.Stat(lab); lab == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q is still there: %v", lab, err)
	}
	if left, err := exec.Command("pgrep", "--full", filepath.Join(lab, "varq")).Output(); err == nil {
		t.Errorf("still running: %s", left)
	}
}

// examples returns the examples of slurmlab(8).
func examples(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../../packaging/man/slurmlab.8")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), ".Sh EXAMPLES\n.Bd -literal -offset indent\n")
	lines, _, ended := strings.Cut(section, ".Ed\n")
	if !ended || strings.Contains(lines, "\\") {
		t.Fatalf("the examples of slurmlab(8) are not as this test expects them: %q", section)
	}
	return lines
}

// unindent returns a help text's example as it would be typed.
func unindent(example string) string {
	var lines strings.Builder
	for line := range strings.Lines(example + "\n") {
		lines.WriteString(strings.TrimPrefix(line, "  "))
	}
	return lines.String()
}

// open lets all users into a folder below a temporary one of the test: the cluster's users run what
// is installed there.
func open(t *testing.T, folder string) {
	t.Helper()
	for name := folder; name != "/tmp" && name != "/"; name = filepath.Dir(name) {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoVarq(t *testing.T) {
	if _, err := slurmlab(t, "up", "--varq", "--destdir="+t.TempDir()); err == nil || !strings.Contains(err.Error(), "no varq is installed") {
		t.Errorf("without an installed varq: %v", err)
	}
}

func TestNoCluster(t *testing.T) {
	for _, args := range [][]string{{"down", t.TempDir()}, {"env", "/no/such/folder"}, {"load", "/"}} {
		if _, err := slurmlab(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
