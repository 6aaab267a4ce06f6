package site

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/varq-project/varq/predictor/client"
	"github.com/varq-project/varq/test/cluster"
)

// install puts what `make build` built under dest, as a package would under /.
func install(ctx context.Context, dest string, version cluster.Version) error {
	args := []string{"--no-print-directory", "-C", sourceTree(), "install", "DESTDIR=" + dest, "PREFIX=/usr"}
	out, err := exec.CommandContext(ctx, "make", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make install: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// sourceTree returns the folder that this program was built from.
func sourceTree() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// plugStack is the line of the installed plugstack.conf.d/varq.conf, for files
// that lie elsewhere than in /.
func (s *Site) plugStack() (string, error) {
	plugin, err := filepath.Glob(s.installed("/usr/lib*/*/slurm*/spank_varq.so"))
	if err != nil || len(plugin) != 1 {
		return "", fmt.Errorf("make install left %d SPANK plugins: %q", len(plugin), plugin)
	}
	return "optional " + plugin[0] + " wrapper=" + s.installed("/usr/bin/varq-wrapper"), nil
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
