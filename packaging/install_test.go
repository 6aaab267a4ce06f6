package packaging

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// installed is what make install writes below DESTDIR, with permissions.
var installed = map[string]fs.FileMode{
	"etc/slurm/plugstack.conf.d/varq.conf":          0o644,
	"etc/varq/varq.yaml":                            0o644,
	"opt/bin/varq":                                  0o755,
	"opt/bin/varq-filter":                           0o755,
	"opt/bin/varq-wrapper":                          0o755,
	"opt/lib/systemd/system/varqd.service":          0o644,
	"opt/lib/sysusers.d/varq.conf":                  0o644,
	"opt/lib/tmpfiles.d/varq.conf":                  0o644,
	"opt/sbin/varqd":                                0o755,
	"opt/share/bash-completion/completions/varq":    0o644,
	"opt/share/fish/vendor_completions.d/varq.fish": 0o644,
	"opt/share/man/man1/varq-wrapper.1":             0o644,
	"opt/share/man/man1/varq.1":                     0o644,
	"opt/share/man/man5/varq.yaml.5":                0o644,
	"opt/share/man/man7/varq.7":                     0o644,
	"opt/share/man/man8/varqd.8":                    0o644,
	"opt/share/varq/cli_filter.lua":                 0o644,
	"opt/share/varq/varq.lua":                       0o644,
	"opt/share/zsh/site-functions/_varq":            0o644,
	"usr/lib/slurm/spank_varq.so":                   0o755,
}

// mk runs make with a target of install.mk, as from the top folder.
func mk(t *testing.T, target, stage string) {
	t.Helper()
	cmd := exec.Command("make", "--no-print-directory", target, "DESTDIR="+stage, "PREFIX=/opt",
		"SLURM_PLUGINDIR=/usr/lib/slurm", "BUILT="+builds(t))
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
}

// builds returns a folder that stands for what make build leaves.
func builds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"varq", "varqd", "varq-filter", "varq-wrapper", "spank_varq.so"} {
		script := "#!/bin/sh\necho " + name + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files lists the files below root.
func files(t *testing.T, root string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		found[name] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInstall(t *testing.T) {
	stage := t.TempDir()
	mk(t, "install", stage)
	if diff := cmp.Diff(installed, files(t, stage)); diff != "" {
		t.Errorf("make install (-want +got):\n%s", diff)
	}
	for file, line := range map[string]string{
		"opt/lib/systemd/system/varqd.service": "ExecStart=/opt/sbin/varqd",
		"etc/slurm/plugstack.conf.d/varq.conf": "optional spank_varq.so wrapper=/opt/bin/varq-wrapper filter=/opt/bin/varq-filter",
		"opt/share/varq/cli_filter.lua":        `local found, varq = pcall(dofile, "/opt/share/varq/varq.lua")`,
	} {
		if text := read(t, filepath.Join(stage, file)); !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("%s has no line %s:\n%s", file, line, text)
		}
	}
	if completion := read(t, filepath.Join(stage, "opt/share/zsh/site-functions/_varq")); completion != "varq completion zsh\n" {
		t.Errorf("zsh's completion is %q", completion)
	}
}

func TestInstallLeavesConfiguration(t *testing.T) {
	stage := t.TempDir()
	path := filepath.Join(stage, "etc/varq/varq.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	const own = "plan: {prob: 0.8}\n"
	if err := os.WriteFile(path, []byte(own), 0o640); err != nil {
		t.Fatal(err)
	}
	mk(t, "install", stage)
	if got := read(t, path); got != own {
		t.Errorf("make install wrote over varq.yaml: %q", got)
	}
}

func TestUninstall(t *testing.T) {
	stage := t.TempDir()
	mk(t, "install", stage)
	mk(t, "uninstall", stage)
	if left := slices.Collect(maps.Keys(files(t, stage))); !slices.Equal(left, []string{"etc/varq/varq.yaml"}) {
		t.Errorf("make uninstall leaves %q", left)
	}
	if _, err := os.Stat(filepath.Join(stage, "opt/share/varq")); err == nil {
		t.Error("make uninstall leaves the folder share/varq")
	}
	mk(t, "uninstall", stage) // once more does no harm
}
