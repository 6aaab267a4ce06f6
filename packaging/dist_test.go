package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// TestReleaseIsReproducible makes a release of what is committed in two folders, and compares both
// bit by bit.
func TestReleaseIsReproducible(t *testing.T) {
	thorough.Only(t)
	if testing.Short() {
		t.Skip("makes all packages twice; not with -short")
	}
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("this is not a git repository: nothing is committed")
	}
	if err := cluster.InstallPackages(t.Context(), "to make packages", "rpm", "dpkg-dev"); err != nil {
		t.Skip(err)
	}
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(t.TempDir(), "here")
	one := release(t, top, here)
	other := release(t, here, filepath.Join(t.TempDir(), "in", "another", "place"))
	if diff := cmp.Diff(sums(t, one), sums(t, other)); diff != "" {
		t.Errorf("sums of two releases (-one +other):\n%s", diff)
	}

	cmd := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	cmd.Dir = one
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	for _, pattern := range []string{
		"varq-V.tar.gz", "varq-V-linux-*.tar.gz",
		"varq-V.cdx.json", "varq-lab-V.cdx.json", "varqd-V.cdx.json", "varq-agent-V.cdx.json", "varq-filter-V.cdx.json", "varq-wrapper-V.cdx.json", "slurmlab-V.cdx.json",
		"varq_V-1_*.deb", "varq-lab_V-1_*.deb", "varq-predictor_V-1_*.deb", "varq-agent_V-1_*.deb", "varq-slurm_V-1_*.deb", "varq-slurmlab_V-1_*.deb",
		"varq-V-1.*.rpm", "varq-lab-V-1.*.rpm", "varq-predictor-V-1.*.rpm", "varq-agent-V-1.*.rpm", "varq-slurm-V-1.slurm*.rpm",
	} {
		pattern = strings.ReplaceAll(pattern, "V", version(t))
		if found, err := filepath.Glob(filepath.Join(one, pattern)); err != nil || len(found) != 1 {
			t.Errorf("a release has %q as %s, %v", found, pattern, err)
		}
	}
}

// version returns the version that the Makefile has.
func version(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^VERSION := (\S+)$`).FindStringSubmatch(read(t, "../Makefile"))
	if found == nil {
		t.Fatal("the Makefile has no VERSION")
	}
	return found[1]
}

// release makes a release from a clone of the repository in the folder, and returns where it is.
func release(t *testing.T, repository, folder string) string {
	t.Helper()
	for _, args := range [][]string{
		{"git", "clone", "--quiet", "--depth=1", "file://" + repository, folder},
		{"make", "--directory=" + folder, "dist", "RPMFLAGS=--define '_binary_payload w1.gzdio'"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "DPKG_DEB_COMPRESSOR_LEVEL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	return filepath.Join(folder, "build", "dist")
}

// sums returns the sums of a release's files, by name.
func sums(t *testing.T, release string) map[string]string {
	t.Helper()
	listed := map[string]string{}
	for line := range strings.Lines(read(t, filepath.Join(release, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	return listed
}
