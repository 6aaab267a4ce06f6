package packaging

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// TestUnits: systemd finds nothing wrong with the units, and runs them in a container. Nobody
// starts them but the administrator; a package that is installed again starts again what runs, and
// one that is removed stops it.
func TestUnits(t *testing.T) {
	h := newHost(t)
	m := managers["deb"]
	packages := m.build(t, h, "0.1.0")
	m.install(h, t, packages)
	if out := h.run(t, "systemd-analyze", "verify", "--man=no", "varqd.service", "varq-agent.service"); out != "" {
		t.Errorf("systemd-analyze verify says\n%s", out)
	}
	h.write(t, "etc/varq/varq.yaml", administrators)
	h.promise(t)
	// Where systemd has /tmp of its own, packages are elsewhere.
	packages = strings.Fields(h.run(t, "sh", append([]string{"-c", `mv "$@" /root && ls /root/*.deb`, "sh"}, packages...)...))

	inside := h.boot(t)
	for _, unit := range []string{"varqd", "varq-agent"} {
		if state := inside.property(t, unit, "ActiveState"); state != "inactive" {
			t.Errorf("%s is %s, though nobody has started it", unit, state)
		}
		inside.run(t, "systemctl", "enable", "--now", unit)
	}
	if got := inside.run(t, "varq", "status", "--all", "--json"); strings.Count(got, `"begin_by"`) != 200 {
		t.Errorf("varqd, as its unit runs it, tells\n%s", got)
	}
	if owner := inside.run(t, "stat", "--format=%U %a", "/var/lib/varq", "/var/cache/varq", "/run/varq"); owner != "varq 750\nvarq 750\nvarq 755\n" {
		t.Errorf("varqd's folders are\n%s", owner)
	}

	was := inside.property(t, "varqd", "MainPID")
	inside.run(t, "systemctl", "stop", "varq-agent")
	inside.run(t, "dpkg", append([]string{"--install"}, packages...)...)
	if now := inside.property(t, "varqd", "MainPID"); now == was || now == "0" {
		t.Errorf("varqd's process was %s before its package was installed again, and is %s", was, now)
	}
	if state := inside.property(t, "varq-agent", "ActiveState"); state != "inactive" {
		t.Errorf("varq-agent is %s, though it was stopped", state)
	}

	inside.run(t, "dpkg", append([]string{"--purge"}, m.names...)...)
	if state := inside.property(t, "varqd", "LoadState"); state != "not-found" {
		t.Errorf("varqd.service is %s after its package was purged", state)
	}
	if left := inside.run(t, "sh", "-c", "ls -d /var/lib/varq /var/cache/varq /run/varq /etc/varq 2>/dev/null || :"); left != "" {
		t.Errorf("purging leaves %s", left)
	}
}

// TestDropIns: systemd finds nothing wrong with varqd's unit and what contrib/standby adds to it.
func TestDropIns(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is missing")
	}
	for _, name := range []string{"standby.conf", "pacemaker.conf"} {
		dir := t.TempDir()
		added := filepath.Join(dir, "varqd.service.d")
		if err := os.Mkdir(added, 0o755); err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{"systemd/varqd.service": filepath.Join(dir, "varqd.service"), "../contrib/standby/" + name: filepath.Join(added, name)} {
			text := strings.ReplaceAll(read(t, from), "/usr/sbin/varqd", "/bin/true")
			if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("systemd-analyze", "verify", "--man=no", "varqd.service")
		cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// container is a host whose systemd runs; it has the number of that process.
type container int

// boot starts the host's own systemd, in a container, until the test ends. It skips the test where
// that is not possible.
func (h host) boot(t *testing.T) container {
	t.Helper()
	if err := cluster.InstallPackages(t.Context(), "to run systemd in a container", "systemd-container"); err != nil {
		t.Fatal(err)
	}
	// The host's programs need these no more: systemd-nspawn mounts its own.
	for _, name := range []string{"proc", "dev"} {
		if err := syscall.Unmount(h.path(name), syscall.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cmd := exec.Command("systemd-nspawn", "--register=no", "--keep-unit", "--console=pipe", "--directory="+string(h), "--boot")
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it says tells more
		close(ended)
	}()
	var booted container
	t.Cleanup(func() {
		if booted != 0 {
			// the container ends with its first process
			_ = syscall.Kill(int(booted), syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		<-ended
	})
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid)
	for {
		select {
		case <-ended:
			t.Skipf("systemd does not run in a container here: %s", &said)
		case <-time.After(200 * time.Millisecond):
		}
		text, _ := os.ReadFile(children) // once it is gone, ended says so
		if _, err := fmt.Sscan(string(text), &booted); err != nil {
			continue
		}
		out, _ := booted.command("systemctl", "is-system-running").Output()
		switch strings.TrimSpace(string(out)) {
		case "running", "degraded":
			// degraded: something that has nothing to do with varq does not run in a container
			return booted
		}
	}
}

// run runs a program in the container, which must succeed, and returns what it prints.
func (c container) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (c container) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{fmt.Sprintf("--target=%d", c), "--all", "--root", "--wd", name}, args...)...)
	cmd.Env = environment
	return cmd
}

// property returns what systemd says of a unit.
func (c container) property(t *testing.T, unit, name string) string {
	t.Helper()
	return strings.TrimSpace(c.run(t, "systemctl", "show", "--property="+name, "--value", unit))
}
