package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// slurmPackages lists Debian packages. Their names are the same in all Debians of releases. The
// compiler and the headers are for building the SPANK plugin.
var slurmPackages = []string{
	"slurmctld", "slurmd", "slurmdbd", "slurmrestd", "slurm-client",
	"slurm-wlm-basic-plugins", "slurm-wlm-jwt-plugin", "slurm-wlm-mysql-plugin",
	"munge", "mariadb-server", "libslurm-dev", "gcc", "libc6-dev",
}

const installLock = "/run/lock/varq-install.lock"

// Install installs what a cluster of the version needs and the machine lacks. Before, it
// prints what it installs, and why, to standard error. If nothing is missing, Install returns
// quickly; otherwise it needs root. Its errors wrap ErrNoSlurm.
func Install(ctx context.Context, v Version, progress io.Writer) error {
	if progress == nil {
		progress = io.Discard
	}
	if err := install(ctx, v, progress); err != nil {
		return fmt.Errorf("%w: %w", ErrNoSlurm, err)
	}
	return nil
}

func install(ctx context.Context, v Version, progress io.Writer) error {
	ready, err := installed(ctx, v)
	if err != nil || ready {
		return err
	}
	unlock, err := lockInstallation()
	if err != nil {
		return err
	}
	defer unlock()
	if v.InChroot() {
		return makeChroot(ctx, v, progress)
	}
	return installPackages(ctx, slurmPackages, "to run a private Slurm", progress)
}

// lockInstallation waits until no other test installs anything. Only root gets the lock.
func lockInstallation() (unlock func(), err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root can install it")
	}
	lock, err := lockFile(installLock)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = os.Remove(installLock)
		lock.Close()
	}, nil
}

// InstallPackages installs those of these Debian packages that the machine lacks. Before, it prints
// which, and the purpose ("to make packages"), to standard error. If nothing is missing, it returns
// quickly; otherwise it needs root.
func InstallPackages(ctx context.Context, purpose string, names ...string) error {
	missing, err := missingPackages(ctx, names)
	if err != nil || len(missing) == 0 {
		return err
	}
	unlock, err := lockInstallation()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(missing, " "), err)
	}
	defer unlock()
	return installPackages(ctx, missing, purpose, io.Discard)
}

func installed(ctx context.Context, v Version) (bool, error) {
	if v.InChroot() {
		return v.cached(), nil
	}
	missing, err := missingPackages(ctx, slurmPackages)
	return len(missing) == 0, err
}

// ErrNoSlurm is returned when Slurm cannot be installed.
var ErrNoSlurm = errors.New("no Slurm to run")

// installPackages installs the missing ones of these packages with apt-get.
func installPackages(ctx context.Context, names []string, purpose string, progress io.Writer) (err error) {
	missing, err := missingPackages(ctx, names)
	if err != nil || len(missing) == 0 {
		return err
	}
	fmt.Fprintf(os.Stderr, "Installing Debian packages %s: %s\n", purpose, strings.Join(missing, " "))
	undo, err := forbidServices("/")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo()) }()
	install := append([]string{"install", "--yes", "--no-install-recommends"}, missing...)
	if err := aptGet(ctx, progress, install...); err != nil {
		// The package lists may be missing or out of date.
		if err := aptGet(ctx, progress, "update"); err != nil {
			return err
		}
		return aptGet(ctx, progress, install...)
	}
	return nil
}

func aptGet(ctx context.Context, progress io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return runLogged(cmd, progress)
}

// runLogged runs a command and copies its output to progress. If the command fails, the error
// ends with the last 2000 bytes of the output.
func runLogged(cmd *exec.Cmd, progress io.Writer) error {
	var said strings.Builder
	out := io.MultiWriter(progress, &said)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		const last = 2000
		text := said.String()
		return fmt.Errorf("%s: %w:\n%s", strings.Join(cmd.Args, " "), err, text[max(0, len(text)-last):])
	}
	return nil
}

func missingPackages(ctx context.Context, names []string) ([]string, error) {
	query := append([]string{"--show", "--showformat=${Package} ${db:Status-Status}\n"}, names...)
	out, err := exec.CommandContext(ctx, "dpkg-query", query...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // exit code 1: unknown package
		return nil, fmt.Errorf("this is not a Debian: %w; install %s yourself", err, strings.Join(names, " "))
	}
	installed := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		if name, status, _ := strings.Cut(strings.TrimSpace(line), " "); status == "installed" {
			installed[name] = true
		}
	}
	var missing []string
	for _, name := range names {
		if !installed[name] {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// forbidServices keeps packages from starting their daemons, by a policy-rc.d below root. undo
// removes that file. If the administrator already has a policy-rc.d, it stays as it is and
// undo does nothing.
func forbidServices(root string) (undo func() error, err error) {
	name := root + "/usr/sbin/policy-rc.d"
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(file, "#!/bin/sh\nexit 101\n")
	return func() error { return os.Remove(name) }, errors.Join(err, file.Close())
}
