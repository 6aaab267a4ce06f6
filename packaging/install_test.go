package packaging

import (
	"fmt"
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

// besideManual is what make install writes below DESTDIR, with permissions, but for the manual
// pages.
var besideManual = map[string]fs.FileMode{
	"etc/slurm/plugstack.conf.d/varq.conf":              0o644,
	"etc/varq/varq.yaml":                                0o644,
	"opt/bin/varq":                                      0o755,
	"opt/bin/varq-filter":                               0o755,
	"opt/bin/varq-lab":                                  0o755,
	"opt/bin/varq-wrapper":                              0o755,
	"opt/lib/systemd/system/varq-agent.service":         0o644,
	"opt/lib/systemd/system/varqd.service":              0o644,
	"opt/lib/sysusers.d/varq.conf":                      0o644,
	"opt/lib/tmpfiles.d/varq.conf":                      0o644,
	"opt/sbin/slurmlab":                                 0o755,
	"opt/sbin/varq-agent":                               0o755,
	"opt/sbin/varqd":                                    0o755,
	"opt/share/bash-completion/completions/varq":        0o644,
	"opt/share/bash-completion/completions/varq-lab":    0o644,
	"opt/share/doc/varq/guide.html":                     0o644,
	"opt/share/fish/vendor_completions.d/varq-lab.fish": 0o644,
	"opt/share/fish/vendor_completions.d/varq.fish":     0o644,
	"opt/share/varq/cli_filter.lua":                     0o644,
	"opt/share/varq/varq.lua":                           0o644,
	"opt/share/zsh/site-functions/_varq":                0o644,
	"opt/share/zsh/site-functions/_varq-lab":            0o644,
	"usr/lib/slurm/spank_varq.so":                       0o755,
}

// installed returns all that make install writes below DESTDIR, with permissions.
func installed(t *testing.T) map[string]fs.FileMode {
	t.Helper()
	all := maps.Clone(besideManual)
	for _, page := range manual(t) {
		all["opt/share/man/man"+page[len(page)-1:]+"/"+filepath.Base(page)] = 0o644
	}
	return all
}

// mk runs make with a target of install.mk, as from the top folder, and returns what it prints.
func mk(t *testing.T, target, stage string) string {
	t.Helper()
	cmd := exec.Command("make", "--no-print-directory", target, "DESTDIR="+stage, "PREFIX=/opt",
		"SLURM_PLUGINDIR=/usr/lib/slurm", "BUILT="+builds(t))
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
	return string(out)
}

// builds returns a folder that stands for what make build leaves.
func builds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"varq", "varq-lab", "varqd", "varq-agent", "varq-filter", "varq-wrapper", "slurmlab", "spank_varq.so"} {
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
	if diff := cmp.Diff(installed(t), files(t, stage)); diff != "" {
		t.Errorf("make install (-want +got):\n%s", diff)
	}
	for file, line := range map[string]string{
		"opt/lib/systemd/system/varqd.service":      "ExecStart=/opt/sbin/varqd\n# Reads the site's policy anew. A configuration with errors is told, and changes nothing.\nExecReload=/opt/sbin/varqd --check\nExecReload=/bin/kill -HUP $MAINPID",
		"opt/lib/systemd/system/varq-agent.service": "ExecStart=/opt/sbin/varq-agent",
		"etc/slurm/plugstack.conf.d/varq.conf":      "optional spank_varq.so wrapper=/opt/bin/varq-wrapper filter=/opt/bin/varq-filter",
		"opt/share/varq/cli_filter.lua":             `local found, varq = pcall(dofile, "/opt/share/varq/varq.lua")`,
	} {
		if text := read(t, filepath.Join(stage, file)); !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("%s has no line %s:\n%s", file, line, text)
		}
	}
	for _, name := range []string{"varq", "varq-lab"} {
		if completion := read(t, filepath.Join(stage, "opt/share/zsh/site-functions/_"+name)); completion != name+" completion zsh\n" {
			t.Errorf("zsh's completion of %s is %q", name, completion)
		}
	}
}

// stubs returns a folder with commands that stand for those that know and create users. They note
// how they are called in the file root/calls, and then do what scripts says.
func stubs(t *testing.T, root string, scripts map[string]string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		script := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >> %s/calls\n%s\n", name, root, scripts[name])
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onThisHost runs make install without DESTDIR, into folders below root, with stubs, and returns
// what it prints.
func onThisHost(t *testing.T, root string, commands map[string]string) string {
	t.Helper()
	dir := stubs(t, root, commands, "getent", "id", "systemd-sysusers")
	cmd := exec.Command("make", "--no-print-directory", "install", "DESTDIR=", "PREFIX="+root+"/opt", "SYSCONFDIR="+root+"/etc",
		"SLURM_PLUGINDIR="+root+"/usr/lib/slurm", "BUILT="+builds(t))
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	return string(out)
}

// On the host itself, install creates varqd's user unless there is one, or says how to, and what
// is left to do.
func TestInstallOnThisHost(t *testing.T) {
	const nobody, root = "exit 2", "echo 0"
	for name, test := range map[string]struct {
		commands    map[string]string
		calls, says string
	}{
		"as root":          {map[string]string{"getent": nobody, "id": root}, "systemd-sysusers ROOT/opt/lib/sysusers.d/varq.conf\n", ""},
		"with a user varq": {map[string]string{"id": root}, "getent passwd varq\n", ""},
		"as a user":        {map[string]string{"getent": nobody, "id": "echo 1000"}, "id -u\n", "as root: systemd-sysusers ROOT/opt/lib/sysusers.d/varq.conf\n"},
		"where that fails": {map[string]string{"getent": nobody, "id": root, "systemd-sysusers": "exit 1"}, "varq.conf\n", "could not be created"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := onThisHost(t, dir, test.commands)
			placed := func(text string) string { return strings.ReplaceAll(text, "ROOT", dir) }
			if calls := read(t, filepath.Join(dir, "calls")); !strings.HasSuffix(calls, placed(test.calls)) {
				t.Errorf("called:\n%s", calls)
			}
			for _, part := range []string{
				test.says, "sacctmgr add user varq account=root adminlevel=operator\n", "URL in ROOT/etc/varq/varq.yaml\n",
				"ROOT/opt/sbin/varqd --check --live\n", "ROOT/opt/share/varq/cli_filter.lua beside it\n", "varq doctor\n",
			} {
				if !strings.Contains(out, placed(part)) {
					t.Errorf("make install does not say %q:\n%s", placed(part), out)
				}
			}
		})
	}
}

// Where there is no systemd, the user is created all the same.
func TestSystemUserWithoutSystemd(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("./system-user", "varq.conf")
	cmd.Env = []string{"PATH=" + stubs(t, dir, map[string]string{"getent": "exit 2", "id": "echo 0"}, "getent", "id", "groupadd", "useradd")}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	calls := read(t, filepath.Join(dir, "calls"))
	if want := "getent group varq\ngroupadd -r varq\nuseradd -r -g varq -d /var/lib/varq "; !strings.Contains(calls, want) {
		t.Errorf("called:\n%s", calls)
	}
}

// A package is made as its builder's, and its user is none of the builder's host.
func TestInstallIntoAStage(t *testing.T) {
	if out := mk(t, "install", t.TempDir()); strings.Contains(out, "sacctmgr") || strings.Contains(out, "system-user") {
		t.Errorf("make install with DESTDIR says\n%s", out)
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
