package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Command prepares a command that runs as a user of the cluster, in JobDir. If the cluster has
// a chroot, the command runs in it. The command's Env contains the variables of c.Env and the
// user's login variables, and the caller may append more. An unknown user or command is
// reported when the caller starts the command.
func (c *Cluster) Command(ctx context.Context, userName, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	path := strings.Join(append(slices.Clone(c.Programs), searchPath), ":")
	cmd.Path, cmd.Err = c.root.lookPath(path, name)
	cmd.Dir = c.JobDir()
	cmd.WaitDelay = 2 * time.Second
	u, err := c.root.lookup(userName)
	if err != nil {
		cmd.Err = errors.Join(cmd.Err, err)
		return cmd
	}
	cmd.Env = append(c.Env(),
		"PATH="+path, "HOME="+u.home, "USER="+userName, "LOGNAME="+userName,
		"SHELL=/bin/bash", "LANG=C.UTF-8")
	cmd.SysProcAttr = c.root.attributes(userName, u)
	return cmd
}

// attributes returns the attributes of a process that runs as a user in the root.
func (r root) attributes(name string, u id) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Chroot: r.dir}
	if u.uid != 0 {
		a.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid), Groups: groupsOf(name)}
	}
	return a
}

// groupsOf returns the ids of a user's groups on the machine. It returns nil if the look-up
// fails.
func groupsOf(name string) []uint32 {
	u, err := user.Lookup(name)
	if err != nil {
		return nil
	}
	names, err := u.GroupIds()
	if err != nil {
		return nil
	}
	groups := make([]uint32, 0, len(names))
	for _, n := range names {
		if gid, err := strconv.ParseUint(n, 10, 32); err == nil {
			groups = append(groups, uint32(gid))
		}
	}
	return groups
}

// lookPath finds a command in folders of the root, separated by colons. It returns the path inside
// the root.
func (r root) lookPath(folders, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(folders) {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(r.path(path)); err == nil {
			return path, nil
		}
	}
	return name, &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// output runs a command as root and returns its standard output, without surrounding white
// space. If the command fails, the error contains everything that it printed.
func (c *Cluster) output(ctx context.Context, name string, args ...string) (string, error) {
	return output(c.Command(ctx, "root", name, args...))
}

func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := bytes.TrimSpace(append(stderr.Bytes(), out...))
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said)
	}
	return strings.TrimSpace(string(out)), nil
}

// Token creates a JSON web token. A client that sends it to slurmrestd is authenticated as the
// user. The token is valid for the lifespan, cut to whole seconds.
func (c *Cluster) Token(ctx context.Context, userName string, lifespan time.Duration) (string, error) {
	out, err := c.output(ctx, "scontrol", "token", "username="+userName, fmt.Sprintf("lifespan=%d", int(lifespan.Seconds())))
	if err != nil {
		return "", err
	}
	token, ok := strings.CutPrefix(out, "SLURM_JWT=")
	if !ok {
		return "", fmt.Errorf("scontrol token: no token in %q", out)
	}
	return token, nil
}

// TokenFile writes a new token for the user to a file and returns the file's path. Only the
// user can read the file. The token is valid for a year.
func (c *Cluster) TokenFile(ctx context.Context, userName string) (string, error) {
	token, err := c.Token(ctx, userName, 365*24*time.Hour)
	if err != nil {
		return "", err
	}
	name := userName + ".token"
	return c.Path("etc", name), c.writeFile(name, token+"\n", userName, 0o400)
}
