package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/cluster"
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

// TestVarq: a cluster with an installed varq makes promises, which go with it.
func TestVarq(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real Slurm: not in short mode")
	}
	stage := t.TempDir()
	if out, err := exec.Command("make", "--directory=../../../..", "install", "DESTDIR="+stage, "PREFIX=/usr").CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	for name := stage; name != "/tmp" && name != "/"; name = filepath.Dir(name) {
		if err := os.Chmod(name, 0o755); err != nil { // the cluster's users run what is installed
			t.Fatal(err)
		}
	}
	dir, err := slurmlab(t, "up", "--varq", "--destdir="+stage, "--nodes=2", "--history-jobs=500", "--days=5", "--utilisation=0.1")
	if errors.Is(err, cluster.ErrNotRoot) || errors.Is(err, cluster.ErrNoSlurm) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := slurmlab(t, "down", dir); err != nil {
			t.Error(err)
		}
		if left, err := exec.Command("pgrep", "--full", filepath.Join(dir, "varq")).Output(); err == nil {
			t.Errorf("still running: %s", left)
		}
	}()
	if quote, err := slurmlab(t, "exec", dir, "--", "sbatch", "--begin-by=now+12hours", "--prob=0.1", "--best-effort", "-N1", "-t", "2:00:00", "--wrap=sleep 600"); err != nil {
		t.Errorf("sbatch printed %q, %v", quote, err)
	}
	if status, err := slurmlab(t, "exec", dir, "--", filepath.Join(stage, "usr/bin/varq"), "status", "--json"); err != nil || strings.Count(status, `"begin_by"`) != 1 {
		t.Errorf("varq status printed %q, %v", status, err)
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
