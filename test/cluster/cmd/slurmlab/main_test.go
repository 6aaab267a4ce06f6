package main

import (
	"bytes"
	"errors"
	"os"
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

func TestNoCluster(t *testing.T) {
	for _, args := range [][]string{{"down", t.TempDir()}, {"env", "/no/such/folder"}, {"load", "/"}} {
		if _, err := slurmlab(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
