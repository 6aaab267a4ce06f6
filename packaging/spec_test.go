package packaging

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
	if diff := cmp.Diff(slices.Sorted(maps.Keys(installed(t))), packaged); diff != "" {
		t.Errorf("parts (-make install +packaged):\n%s", diff)
	}
}

// TestPackagesOfAllParts: varq.spec and packaging/debian/control make a package of every part, with
// its scripts; slurmlab is for Debian only.
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
		if part == "varq-slurmlab" {
			continue
		}
		of := strings.TrimPrefix(strings.TrimPrefix(part, "varq"), "-")
		line := strings.Join(strings.Fields("%"+step+" "+of), " ") + " -f parts/" + filepath.Base(file)
		if !strings.Contains(spec, "\n"+line+"\n") {
			t.Errorf("varq.spec has no line %s", line)
		}
	}
}

// How CHANGELOG.md and varq.spec's %changelog tell a release.
var (
	inChangelog = releases{regexp.MustCompile(`(?m)^## \[(?P<version>\d\S*)\] - (?P<day>\S+)$`), time.DateOnly}
	inSpec      = releases{regexp.MustCompile(`(?m)^\* (?P<day>\w+ \w+ \d+ \d+) .* - (?P<version>\S+)-\d+$`), "Mon Jan 02 2006"}
)

type releases struct {
	line   *regexp.Regexp
	layout string // of its day
}

// of returns the releases that a text has, each as its version and day.
func (r *releases) of(t *testing.T, text string) (found []string) {
	t.Helper()
	for _, line := range r.line.FindAllStringSubmatch(text, -1) {
		day, err := time.Parse(r.layout, line[r.line.SubexpIndex("day")])
		if err != nil {
			t.Fatalf("%s: %v", line[0], err)
		}
		found = append(found, line[r.line.SubexpIndex("version")]+" "+day.Format(time.DateOnly))
	}
	return found
}

// TestChangelogs: varq.spec and CHANGELOG.md have the same releases on the same days, in the same
// order.
func TestChangelogs(t *testing.T) {
	_, spec, found := strings.Cut(read(t, "../varq.spec"), "\n%changelog\n")
	if !found {
		t.Fatal("varq.spec has no changelog")
	}
	if diff := cmp.Diff(inChangelog.of(t, read(t, "../CHANGELOG.md")), inSpec.of(t, spec)); diff != "" {
		t.Errorf("releases (-CHANGELOG.md +varq.spec):\n%s", diff)
	}
}

// TestReleasesAreFound: a release is found in both.
func TestReleasesAreFound(t *testing.T) {
	ours := inChangelog.of(t, "# Changelog\n\n## [Unreleased]\n\n- x\n\n## [0.2.0] - 2026-11-25\n\n- y\n")
	theirs := inSpec.of(t, "* Wed Nov 25 2026 varq project <varq@example.org> - 0.2.0-1\n- See CHANGELOG.md.\n")
	if want := []string{"0.2.0 2026-11-25"}; !slices.Equal(ours, want) || !slices.Equal(theirs, want) {
		t.Errorf("found %q and %q", ours, theirs)
	}
}
