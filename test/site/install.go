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

// install runs `make install` with the DESTDIR dest, a new folder, as a package build does. It installs what
// `make build` built. For a Slurm that is not the machine's own, install builds the SPANK
// plugin again with the headers of that version.
func (s *Site) install(ctx context.Context, version cluster.Version, progress io.Writer) (err error) {
	if s.dest, err = os.MkdirTemp("", "varq-site-"); err != nil {
		return err
	}
	s.ours, s.config, s.log = true, s.installed("/etc/varq/varq.yaml"), s.installed("/varqd.log")
	if err := os.Chmod(s.dest, 0o755); err != nil {
		return err
	}
	fmt.Fprintln(progress, "installing varq with make install DESTDIR="+s.dest)
	if err := run(ctx, "make", "--no-print-directory", "-C", sourceTree(), "install", "DESTDIR="+s.dest, "PREFIX=/usr"); err != nil {
		return err
	}
	if version == cluster.Slurm2205 {
		return nil
	}
	installed, err := s.spankPlugin()
	if err != nil {
		return err
	}
	out := s.installed("build")
	if err := run(ctx, "make", "-C", filepath.Join(sourceTree(), "plugin", "spank"), "OUT="+out, "SLURM_CFLAGS=-I"+cluster.IncludeDir(version)); err != nil {
		return err
	}
	return run(ctx, "install", filepath.Join(out, filepath.Base(installed)), installed)
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

// spankPlugin returns the path of the installed SPANK plugin.
func (s *Site) spankPlugin() (string, error) {
	found, err := filepath.Glob(s.installed("/usr/lib*/*/slurm*/spank_varq.so"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d SPANK plugins of varq are installed below %s: %q", len(found), s.dest, found)
	}
	return found[0], nil
}

// plugStack returns the plugstack.conf line that loads the installed plugin. It is the line of
// the installed plugstack.conf.d/varq.conf, but with paths below dest.
func (s *Site) plugStack() (string, error) {
	plugin, err := s.spankPlugin()
	return "optional " + plugin + " wrapper=" + s.installed("/usr/bin/varq-wrapper") + " filter=" + s.installed("/usr/bin/varq-filter") + " config=" + s.Config(), err
}

// cliFilter returns a cli_filter.lua that calls varq's filter, as a site with its own
// cli_filter.lua would write it.
func (s *Site) cliFilter() string {
	return fmt.Sprintf(`local varq = dofile(%q)
function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset) return varq.pre_submit(options, offset) end
function slurm_cli_post_submit(offset, job, step) return varq.post_submit(offset, job, step) end
`, s.installed("/usr/share/varq/varq.lua"))
}

// Client returns a client of varqd that authenticates as root, through the cluster's munge.
func (s *Site) Client() (*client.Client, error) {
	return client.New("unix://"+s.Socket(), s.MungeSocket())
}
