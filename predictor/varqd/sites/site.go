// Package sites has the clusters where a user's job may run, as her commands reach them: by their
// varqds, and by the commands of their Slurm. It makes them sites for package broker: one with a
// varqd promises what it takes, and at one without the job is on trial.
package sites

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// Here is the name of the host's own cluster where neither the configuration file nor slurm.conf
// names it.
const Here = "local"

// Site is a cluster where a job may run.
type Site struct {
	config.Site
	// Own is true of the cluster of this host, which sbatch submits to without being told.
	Own bool
	// Named is true if the user, or the configuration file, has named it.
	Named bool
	// Varqd tells of the site: its own, or if it has none, that of this host's cluster.
	Varqd *client.Client
}

// Name returns what Slurm calls the cluster.
func (s *Site) Name() string { return s.Site.Name }

// Order returns how an order to sbatch names the site: not at all if nobody has named it.
func (s *Site) Order() string {
	if !s.Named {
		return ""
	}
	return s.Name()
}

// Words returns what an error says, without the name of the site, beside which it is shown.
func (s *Site) Words(err error) string { return strings.TrimPrefix(err.Error(), "site "+s.Name()+": ") }

// Reader returns the site whose sbatch reads what a job needs, which has a varqd: the first such
// one, else this host's cluster.
func Reader(all []*Site) *Site {
	if i := slices.IndexFunc(all, func(s *Site) bool { return !s.HasNoVarqd() }); i >= 0 {
		return all[i]
	}
	own := &Site{Own: true}
	own.Site.Name = Here
	return own
}

// Sacct runs Slurm's sacct at path with args and variables added to the environment, and returns
// what it prints.
type Sacct func(ctx context.Context, path string, variables []string, args ...string) ([]byte, error)

// Sacct runs the site's sacct with args.
func (s *Site) Sacct(ctx context.Context, run Sacct, args ...string) ([]byte, error) {
	var variables []string
	switch {
	case s.SlurmConf != "":
		variables = []string{"SLURM_CONF=" + s.SlurmConf}
	case !s.Own:
		args = append(args, "--clusters="+s.Name())
	}
	return run(ctx, s.program("sacct"), variables, args...)
}

// program returns the path of a program of the site's Slurm.
func (s *Site) program(path string) string {
	if s.Bin != "" {
		return filepath.Join(s.Bin, filepath.Base(path))
	}
	return path
}
