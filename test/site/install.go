package site

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/test/cluster"
)

// install runs `make install` with the DESTDIR dest, a new folder, as a package build does. It
// installs what `make build` built. For a Slurm that is not the machine's own, install builds the
// SPANK plugin again with the headers of that version.
func (s *Site) install(ctx context.Context, version cluster.Version, progress io.Writer) (err error) {
	if s.dest, err = os.MkdirTemp("", "varq-site-"); err != nil {
		return err
	}
	s.ours, s.config, s.log = true, filepath.Join(s.dest, "etc/varq/varq.yaml"), filepath.Join(s.dest, "varqd.log")
	if err := os.Chmod(s.dest, 0o755); err != nil {
		return err
	}
	fmt.Fprintln(progress, "installing varq with make install DESTDIR="+s.dest)
	if err := run(ctx, "make", "--no-print-directory", "-C", sourceTree(), "install", "DESTDIR="+s.dest, "PREFIX=/usr"); err != nil {
		return err
	}
	if !version.InChroot() {
		return nil
	}
	p, err := find(s.dest)
	if err != nil {
		return err
	}
	out := filepath.Join(s.dest, "build")
	if err := run(ctx, "make", "-C", filepath.Join(sourceTree(), "plugin", "spank"), "OUT="+out, "SLURM_CFLAGS=-I"+cluster.IncludeDir(version)); err != nil {
		return err
	}
	return run(ctx, "install", filepath.Join(out, filepath.Base(p.plugin)), p.plugin)
}

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// sourceTree returns the root of the source tree that this program was built from.
func sourceTree() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Client returns a client of varqd that authenticates as root, through the cluster's munge.
func (s *Site) Client() (*client.Client, error) {
	return client.New("unix://"+s.Socket(), s.MungeSocket())
}
