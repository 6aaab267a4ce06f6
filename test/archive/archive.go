// Package archive finds logs of the Parallel Workloads Archive for tests. The logs are not
// part of the project.
package archive

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Folder returns the folder that VARQ_TRACES names, or else ../shared/traces as
// seen from the repository's root. Without it, the test is skipped.
func Folder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("VARQ_TRACES")
	if folder == "" {
		_, here, _, _ := runtime.Caller(0)
		folder = filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "traces")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no real logs, which can be had from https://www.cs.huji.ac.il/labs/parallel/workload/ (VARQ_TRACES names their folder): %v", err)
	}
	return folder
}

// Log returns the file of a log. The name may omit the version: "CTC-SP2-1996". If there is
// no such log, the test is skipped.
func Log(t testing.TB, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(Folder(t), name+"*.swf.gz"))
	if err != nil || len(found) == 0 {
		t.Skipf("no log %s in %s", name, Folder(t))
	}
	return found[len(found)-1]
}

// LosAlamos returns the file of Los Alamos' failures of nodes (LA-UR-05-7318). If there is none,
// the test is skipped.
func LosAlamos(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(Folder(t), "failures", "LANL-*.csv.gz"))
	if err != nil || len(found) == 0 {
		t.Skipf("no failures of Los Alamos in %s", Folder(t))
	}
	return found[0]
}
