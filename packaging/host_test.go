package packaging

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// host is the root of the machine's own Debian with systemd, munge and Slurm's commands, on which
// nothing of varq has been. Its programs run in a chroot, and no systemd does.
type host string

// newHost returns a host that the test may change. It is an overlay over one that is made once, by
// mmdebstrap, and kept in /var/cache. newHost skips the test in short mode and where
// only root could go on.
func newHost(t *testing.T) host {
	t.Helper()
	if testing.Short() {
		t.Skip("installs packages on a Debian of their own; not with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip(cluster.ErrNotRoot)
	}
	pristine, err := debian()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	layer, root := filepath.Join(dir, "layer"), filepath.Join(dir, "root")
	mount := func(source, target, kind string, flags uintptr, options string) {
		t.Helper()
		if err := os.MkdirAll(target, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount(source, target, kind, flags, options); err != nil {
			t.Fatalf("mounting %s: %v", target, err)
		}
		t.Cleanup(func() {
			// unmounted already
			if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
				t.Errorf("unmounting %s: %v", target, err)
			}
		})
	}
	mount("tmpfs", layer, "tmpfs", 0, "size=2g,mode=755")
	upper, work := filepath.Join(layer, "upper"), filepath.Join(layer, "work")
	for _, dir := range []string{upper, work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mount("overlay", root, "overlay", 0, "lowerdir="+pristine+",upperdir="+upper+",workdir="+work)
	mount("proc", filepath.Join(root, "proc"), "proc", 0, "")
	mount("/dev", filepath.Join(root, "dev"), "", syscall.MS_BIND, "")
	return host(root)
}

// debian makes the cached Debian unless it is there, and returns its folder. Packages that are made
// here need the Slurm for which they are made.
var debian = sync.OnceValues(func() (string, error) {
	suite := cluster.Own().Suite()
	dir := "/var/cache/varq-" + suite
	partial := dir + ".partial"
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := cluster.InstallPackages(context.Background(), "to make a Debian on which packages are tried", "mmdebstrap"); err != nil {
		return "", err
	}
	if err := os.RemoveAll(partial); err != nil { // left by an interrupted attempt
		return "", err
	}
	out, err := exec.Command("mmdebstrap", "--variant=minbase", "--include=systemd,munge,slurm-client,slurm-wlm-basic-plugins",
		suite, partial, "http://deb.debian.org/debian").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out[max(0, len(out)-2000):]))
	}
	return dir, os.Rename(partial, dir)
})

// path returns where a file of the host is.
func (h host) path(name string) string { return filepath.Join(string(h), name) }

// run runs a program of the host as root, which must succeed, and returns what it prints.
func (h host) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := h.command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (h host) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("chroot", append([]string{string(h), name}, args...)...)
	cmd.Env = environment
	return cmd
}

// environment is that of a host's programs.
var environment = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"}

// write writes a file of the host.
func (h host) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files lists the host's files and folders, but not those in which dpkg, rpm and systemd keep
// account of what is there.
func (h host) files(t *testing.T) []string {
	t.Helper()
	accounts := []string{
		"proc", "dev", "tmp", "run/mount", "var/lib/dpkg", "var/lib/rpm", "root/.rpmdb", "var/log", "etc/.pwd.lock",
		"etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-",
	}
	found := map[string]bool{}
	err := filepath.WalkDir(string(h), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(string(h), path)
		if slices.Contains(accounts, name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		found[name] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// serve runs varqd on the host as varqd.service does, calls use once it answers, and stops it.
// There is no Slurm, so that varqd neither plans nor settles anything.
func (h host) serve(t *testing.T, use func()) {
	t.Helper()
	h.run(t, "systemd-tmpfiles", "--create", "varq.conf")
	var log strings.Builder
	cmd := h.command("setpriv", "--reuid=varq", "--regid=varq", "--clear-groups", "varqd")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log says why
		close(ended)
	}()
	for h.command("varq", "status", "--json").Run() != nil {
		select {
		case <-ended:
			t.Fatalf("varqd has ended:\n%s", &log)
		case <-time.After(100 * time.Millisecond):
		}
	}
	use()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	<-ended
	if !cmd.ProcessState.Success() {
		t.Fatalf("varqd has ended badly:\n%s", &log)
	}
}
