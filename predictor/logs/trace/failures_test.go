package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

func TestFolderFailures(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Folder(dir).Failures("20"); err == nil || !strings.Contains(err.Error(), "LANL-*.csv") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "failures"), 0o777); err != nil {
		t.Fatal(err)
	}
	log := "System,nodes,nodenumz,Prob Started,Prob Fixed\n20,2,1,1/1/1970 0:02,1/1/1970 0:03\n2,1,0,1/1/1970 0:01,\n"
	if err := os.WriteFile(filepath.Join(dir, "failures", "LANL-x.csv"), []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	nodes, failed, err := Folder(dir).Failures("20")
	if diff := cmp.Diff([]workload.Failure{{Node: "1", Down: 120, Up: 180}}, failed); diff != "" || len(nodes) != 2 || err != nil {
		t.Error(nodes, err, diff)
	}
	if _, _, err := Folder(dir).Failures("99"); err == nil || !strings.Contains(err.Error(), "no system 99") {
		t.Errorf("a system that there is not: %v", err)
	}
}

// TestFolderRan reads a log twice.
func TestFolderRan(t *testing.T) {
	dir := t.TempDir()
	if _, err := Folder(dir).Ran("A"); err == nil {
		t.Error("a log that does not exist is read")
	}
	log := "; MaxProcs: 8\n; UnixStartTime: 1000\n1 5 10 60 4 -1 -1 4 90 -1 1 1 1 -1 1 -1 -1 -1\n"
	if err := os.WriteFile(filepath.Join(dir, "A-1.swf"), []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	jobs, err := Folder(dir).Ran("A")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		for job, err := range jobs {
			if n++; err != nil || job.Start != 1015 || job.End != 1075 || job.Limit != 90 {
				t.Error(job, err)
			}
		}
		if n != 1 {
			t.Errorf("%d jobs", n)
		}
	}
}
