package packaging

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSpecHasAllFiles compares the files of varq.spec's packages with those that
// make install writes.
func TestSpecHasAllFiles(t *testing.T) {
	directories := strings.NewReplacer(
		"%{_bindir}", "opt/bin",
		"%{_sbindir}", "opt/sbin",
		"%{_datadir}", "opt/share",
		"%{_mandir}", "opt/share/man",
		"%{_sysconfdir}", "etc",
		"%{_unitdir}", "opt/lib/systemd/system",
		"%{_sysusersdir}", "opt/lib/sysusers.d",
		"%{_tmpfilesdir}", "opt/lib/tmpfiles.d",
		"%{slurm_plugindir}", "usr/lib/slurm",
	)
	_, files, _ := strings.Cut(read(t, "../varq.spec"), "\n%files\n")
	var packaged []string
	for line := range strings.Lines(files) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "%config(noreplace) ")
		if path := directories.Replace(line); path != "" && !strings.HasPrefix(path, "%") {
			// Manual pages are compressed by some distributions.
			packaged = append(packaged, strings.TrimSuffix(path, "*"))
		}
	}
	slices.Sort(packaged)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(installed)), packaged); diff != "" {
		t.Errorf("varq.spec (-make install +packaged):\n%s", diff)
	}
}
