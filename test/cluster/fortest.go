package cluster

import (
	"errors"
	"os"
	"testing"
)

// ForTest starts a cluster for a test and stops it when the test ends. If the test failed,
// ForTest logs the last lines of the log of every Slurm daemon. It skips the test in short
// mode, if the process is not root, and if Slurm cannot be installed.
func ForTest(t testing.TB, o Options) *Cluster {
	t.Helper()
	NeedSlurm(t)
	c, err := Start(t.Context(), o)
	if errors.Is(err, ErrNoSlurm) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, d := range append([]Daemon{Slurmctld, Slurmdbd, Slurmrestd}, c.slurmds()...) {
				t.Logf("%s:\n%s", d, c.LogTail(d))
			}
		}
		if err := c.Stop(); err != nil {
			t.Errorf("stopping the cluster: %v", err)
		}
	})
	return c
}

// NeedSlurm skips the test in short mode and if the process is not root.
func NeedSlurm(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real Slurm: not in short mode")
	}
	if os.Geteuid() != 0 {
		t.Skip(ErrNotRoot)
	}
}
