package packaging

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parts runs make parts as from the top folder and returns the folder with its files.
func parts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("make", "--no-print-directory", "parts", "OUT="+dir, "PREFIX=/opt", "SLURM_PLUGINDIR=/usr/lib/slurm")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make parts: %v\n%s", err, out)
	}
	return dir
}

// TestPartsHaveAllFiles: each file that make install writes is in one part, and no part has others.
func TestPartsHaveAllFiles(t *testing.T) {
	lists, err := filepath.Glob(filepath.Join(parts(t), "*.files"))
	if err != nil {
		t.Fatal(err)
	}
	var packaged []string
	for _, list := range lists {
		for file := range strings.FieldsSeq(read(t, list)) {
			packaged = append(packaged, strings.TrimPrefix(file, "/"))
		}
	}
	slices.Sort(packaged)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(installed)), packaged); diff != "" {
		t.Errorf("parts (-make install +packaged):\n%s", diff)
	}
}

// TestPackagesOfAllParts: varq.spec and packaging/debian/control make a package of every part, with its scripts.
func TestPackagesOfAllParts(t *testing.T) {
	dir := parts(t)
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	spec, control := read(t, "../varq.spec"), read(t, "debian/control")
	for _, file := range made {
		part, step, _ := strings.Cut(filepath.Base(file), ".")
		if step == "files" && !strings.Contains(control, "\nPackage: "+part+"\n") {
			t.Errorf("packaging/debian/control has no package %s", part)
		}
		of := strings.TrimPrefix(strings.TrimPrefix(part, "varq"), "-")
		line := strings.Join(strings.Fields("%"+step+" "+of), " ") + " -f parts/" + filepath.Base(file)
		if !strings.Contains(spec, "\n"+line+"\n") {
			t.Errorf("varq.spec has no line %s", line)
		}
	}
}
