package site

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/test/cluster"
)

// install puts what `make build` built under dest, as a package would under /.
// The SPANK plugin is built anew for a Slurm that is not this machine's own.
func (s *Site) install(ctx context.Context, version cluster.Version) error {
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

// sourceTree returns the folder that this program was built from.
func sourceTree() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// spankPlugin returns the name of the installed plugin.
func (s *Site) spankPlugin() (string, error) {
	found, err := filepath.Glob(s.installed("/usr/lib*/*/slurm*/spank_varq.so"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("make install left %d SPANK plugins: %q", len(found), found)
	}
	return found[0], nil
}

// plugStack is the line of the installed plugstack.conf.d/varq.conf, for files
// that lie elsewhere than in /.
func (s *Site) plugStack() (string, error) {
	plugin, err := s.spankPlugin()
	return "optional " + plugin + " wrapper=" + s.installed("/usr/bin/varq-wrapper"), err
}

// cliFilter is what a site with a cli_filter.lua of its own would write.
func (s *Site) cliFilter() string {
	return fmt.Sprintf(`local varq = dofile(%q)
varq.filter = %q
function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset) return varq.pre_submit(options, offset) end
function slurm_cli_post_submit(offset, job, step) return varq.post_submit(offset, job, step) end
`, s.installed("/usr/share/varq/varq.lua"), s.installed("/usr/bin/varq-filter"))
}

// Client returns a client of varqd for root.
func (s *Site) Client() (*client.Client, error) {
	return client.New("unix://"+s.Socket(), s.MungeSocket())
}
