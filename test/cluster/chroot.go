package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// root is the root folder of a cluster's programs: the machine's own or a chroot.
type root struct {
	dir   string // "" for the machine's own
	cache string // the Debian below it, which does not change
}

// rootOf returns the root of a cluster in dir. A chroot is an overlay mount on the version's cached
// Debian. All changes go to the overlay's upper layer. The cache does not change, so several
// clusters can use it at once.
func rootOf(v Version, dir string) root {
	if !v.InChroot() {
		return root{}
	}
	return root{filepath.Join(dir, "root"), v.cache()}
}

// path returns the path, outside a chroot, of a file in the root.
func (r root) path(name string) string { return filepath.Join("/", r.dir, name) }

// IncludeDir returns the folder of a version's C headers, which exists once that version is
// installed. For a version in a chroot the folder contains only Slurm's headers, because the
// headers of the chroot's C library do not fit this machine. A plugin that is built on this machine
// with these headers works in the cluster.
func IncludeDir(v Version) string {
	if v.InChroot() {
		return filepath.Join(v.cache(), "usr", "local", "include")
	}
	return "/usr/include"
}

// linkHeaders creates the link to Slurm's headers in IncludeDir, for the chroot in dir.
func linkHeaders(dir string) error {
	return os.Symlink("../../include/slurm", filepath.Join(dir, "usr", "local", "include", "slurm"))
}

// cached reports whether the version's Debian exists. makeChroot moves it to its place only when it
// is complete, so checking for one file is enough.
func (v Version) cached() bool {
	_, err := os.Lstat(filepath.Join(v.cache(), "usr", "sbin", "slurmctld"))
	return err == nil
}

// makeChroot creates the version's Debian unless it exists.
func makeChroot(ctx context.Context, v Version, progress io.Writer) error {
	r, supported := v.release()
	if !supported || v.cached() {
		return nil // Start rejects what is not supported
	}
	dir := v.cache()
	if err := makeEmpty(dir); err != nil {
		return err
	}
	what := fmt.Sprintf("a %s with Slurm %s", r.debian, r.version)
	if err := installPackages(ctx, []string{"debootstrap"}, "to make "+what, progress); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Making %s in %s (about 1.1 GB)\n", what, dir)
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil { // left by an interrupted attempt
		return err
	}
	// The empty mirror is debootstrap's own. The script is named because Debian 12's debootstrap
	// does not know the names of later suites, which all have the script of sid.
	bootstrap := exec.CommandContext(ctx, "debootstrap", "--variant=minbase", "--include=ca-certificates", r.suite, partial, "", "sid")
	if err := runLogged(bootstrap, progress); err != nil {
		return err
	}
	if _, err := forbidServices(partial); err != nil {
		return err
	}
	// unshare runs the command in a mount namespace of its own. The mounts disappear when the
	// command ends.
	const inside = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
chroot "$0" apt-get install --yes --no-install-recommends "$@" && chroot "$0" apt-get clean`
	// curl is for commands of the guide
	args := append([]string{"--mount", "sh", "-c", inside, partial, "curl"}, slurmPackages...)
	install := exec.CommandContext(ctx, "unshare", args...)
	install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if err := runLogged(install, progress); err != nil {
		return err
	}
	if err := linkHeaders(partial); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil { // makeEmpty ensured that it is empty
		return err
	}
	return os.Rename(partial, dir)
}

// enter mounts the chroot. It binds the cluster's folder and the folders in bind at the same
// paths in it. enter does nothing if the root is the machine's own.
func (r root) enter(clusterDir string, bind []string) error {
	if r.dir == "" {
		return nil
	}
	layer := filepath.Join(clusterDir, "layer")
	upper, work := filepath.Join(layer, "upper"), filepath.Join(layer, "work")
	if err := os.Mkdir(layer, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", layer, "tmpfs", 0, "size=1g,mode=755"); err != nil {
		return fmt.Errorf("mounting %s: %w", layer, err)
	}
	for _, dir := range []string{upper, work, r.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	overlay := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", r.cache, upper, work)
	if err := syscall.Mount("overlay", r.dir, "overlay", 0, overlay); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", overlay, r.dir, err)
	}
	for _, dir := range []string{"/proc", "/dev", "/sys"} {
		if err := r.bind(dir, syscall.MS_REC); err != nil {
			return err
		}
	}
	for _, dir := range append([]string{clusterDir}, bind...) {
		if err := r.bind(dir, 0); err != nil {
			return err
		}
	}
	return r.copySettings()
}

// bind makes a folder of the machine visible at the same path in the root. The mount is
// private: a later unmount below it does not affect the machine. recursive is MS_REC or 0.
func (r root) bind(dir string, recursive uintptr) error {
	to := r.path(dir)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount(dir, to, "", syscall.MS_BIND|recursive, ""); err != nil {
		return fmt.Errorf("binding %s to %s: %w", dir, to, err)
	}
	return syscall.Mount("", to, "", syscall.MS_PRIVATE|recursive, "")
}

// copySettings copies the machine's host name, hosts file and time zone into the chroot.
func (r root) copySettings() error {
	for _, name := range []string{"/etc/hosts", "/etc/hostname", "/etc/localtime"} {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.RemoveAll(r.path(name)); err != nil {
			return err
		}
		if err := os.WriteFile(r.path(name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copyUser adds a user of the machine to the chroot, with the same uid and gid. A user with a
// home folder gets an empty one in the chroot. copyUser does nothing if the root is the
// machine's own.
func (r root) copyUser(name string) error {
	if r.dir == "" {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		return err
	}
	if err := prepend(r.path("/etc/passwd"), fmt.Sprintf("%s:x:%s:%s::%s:/bin/bash\n", name, u.Uid, u.Gid, u.HomeDir)); err != nil {
		return err
	}
	// su needs the entry
	if err := prepend(r.path("/etc/shadow"), name+":*:1::::::\n"); err != nil {
		return err
	}
	if err := prepend(r.path("/etc/group"), fmt.Sprintf("%s:x:%s:\n", g.Name, u.Gid)); err != nil {
		return err
	}
	if _, err := os.Stat(u.HomeDir); err != nil {
		return nil // a system user has no home folder
	}
	inside, err := r.lookup(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.path(u.HomeDir), 0o755); err != nil {
		return err
	}
	return os.Chown(r.path(u.HomeDir), inside.uid, inside.gid)
}

// prepend inserts a line at the start of a file, where look-ups find it first.
func prepend(name, line string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append([]byte(line), text...), 0o644)
}

// leave unmounts everything below dir. If leave returns an error, something may still be
// mounted there and the caller must not remove dir.
func leave(dir string) error {
	points, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	for _, point := range slices.Backward(points) {
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			return fmt.Errorf("unmounting %s: %w", point, err)
		}
	}
	points, err = mountsBelow(dir)
	if err == nil && len(points) > 0 {
		err = fmt.Errorf("still mounted: %s", strings.Join(points, " "))
	}
	return err
}

// mountsBelow lists the mount points below a folder, the oldest first.
func mountsBelow(dir string) ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var points []string
	for line := range strings.Lines(string(text)) {
		const mountPoint = 4
		if f := strings.Fields(line); len(f) > mountPoint && strings.HasPrefix(f[mountPoint], dir+"/") {
			points = append(points, f[mountPoint])
		}
	}
	return points, nil
}
