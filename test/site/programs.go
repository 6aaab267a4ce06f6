package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// programs says where an installation of varq has what a site runs. All paths are absolute.
type programs struct {
	bin, sbin string // folders: of users' programs, and of varqd
	plugin    string // spank_varq.so
	lua       string // varq.lua
}

// ErrNotInstalled is the error of Start for Options.Installed without a varq.
var ErrNotInstalled = errors.New("no varq is installed")

// find returns the programs below dest, which is the DESTDIR of make install, with the prefix /usr
// or /usr/local, or the folder of make build within its source tree.
func find(dest string) (programs, error) {
	if _, err := os.Stat(filepath.Join(dest, "varqd")); err == nil {
		return programs{bin: dest, sbin: dest, plugin: filepath.Join(dest, "spank_varq.so"), lua: filepath.Join(dest, "../plugin/lua/varq.lua")}, nil
	}
	for _, prefix := range []string{"usr", "usr/local"} {
		p := programs{bin: filepath.Join(dest, prefix, "bin"), sbin: filepath.Join(dest, prefix, "sbin"), lua: filepath.Join(dest, prefix, "share/varq/varq.lua")}
		if _, err := os.Stat(filepath.Join(p.sbin, "varqd")); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return programs{}, err
		}
		found, err := filepath.Glob(filepath.Join(dest, "usr/lib*/*/slurm*/spank_varq.so"))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%w whole: %d files below %s are SPANK plugins of varq: %q", ErrNotInstalled, len(found), dest, found)
		}
		if err != nil {
			return programs{}, err
		}
		p.plugin = found[0]
		return p, nil
	}
	return programs{}, fmt.Errorf("%w: neither %s nor usr/sbin nor usr/local/sbin below it has varqd", ErrNotInstalled, dest)
}

// plugStack returns the plugstack.conf line that loads the plugin. It is the line of the installed
// plugstack.conf.d/varq.conf, but with these paths, and for the configuration config.
func (p programs) plugStack(config string) string {
	return "optional " + p.plugin + " wrapper=" + filepath.Join(p.bin, "varq-wrapper") + " filter=" + filepath.Join(p.bin, "varq-filter") + " config=" + config
}

// cliFilter returns a cli_filter.lua that calls varq's filter, as a site with its own
// cli_filter.lua would write it.
func (p programs) cliFilter() string {
	return fmt.Sprintf(`local varq = dofile(%q)
function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset) return varq.pre_submit(options, offset) end
function slurm_cli_post_submit(offset, job, step) return varq.post_submit(offset, job, step) end
`, p.lua)
}
