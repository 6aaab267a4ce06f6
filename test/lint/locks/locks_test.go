package locks

import (
	"path/filepath"
	"strings"
	"testing"
)

// No mutex of varq may be locked twice, and all are locked in one order.
func TestProject(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Find(root, "./predictor/...", "./plugin/...", "./wrapper/...", "./contrib/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// Each way of testdata/hangs to hang is found, and none of testdata/works.
func TestFind(t *testing.T) {
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Find(root, "./works")
	if err != nil || len(found) > 0 {
		t.Errorf("in what works: %q, %v", found, err)
	}
	found, err = Find(root, "./hangs")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(found, "\n")
	for _, want := range []string{"Again", "ByCallback", "ByInterface", "ByIterator", "Passed", "OneWay", "OtherWay", "Stored", "Sorted"} {
		if !strings.Contains(got, ".model)."+want+" at ") {
			t.Errorf("%s is not found", want)
		}
	}
	if len(found) != 9 || t.Failed() {
		t.Errorf("%d are found:\n%s", len(found), got)
	}
}
