package cluster

import (
	"errors"
	"os"
	"testing"
)

// ForTest starts a cluster for a test and stops it when the test ends. If the
// test failed by then, it logs the last words of every daemon. It skips the
// test when not run by root, when Slurm cannot be installed, and in short mode.
// Without a version in the options, VARQ_SLURM24=1 in the environment selects
// Slurm 24.11.
func ForTest(t testing.TB, o Options) *Cluster {
	t.Helper()
	needSlurm(t)
	if o.Version == "" && os.Getenv("VARQ_SLURM24") == "1" {
		o.Version = Slurm2411
	}
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

// needSlurm skips a test where no cluster can or should be started.
func needSlurm(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real Slurm: not in short mode")
	}
	if os.Geteuid() != 0 {
		t.Skip(ErrNotRoot)
	}
}
