// Package site runs a whole site in one folder: a private Slurm, varq installed by `make
// install` as a system administrator would, and varqd. The end-to-end tests, the benchmarks
// and the demonstration use it.
package site

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
)

// Options describes the site to start. The zero value is a site with 8 nodes, Slurm 22.05 and
// no history.
type Options struct {
	Nodes int
	// Declared is that of cluster.Options.
	Declared int
	Version  cluster.Version
	// Name is what Slurm calls the cluster, "lab" if empty.
	Name string
	// Beside is a running site of which this one's cluster uses the slurmdbd and the munge key; see
	// cluster.Options.
	Beside *Site
	// History is loaded into the accounting database before varqd starts.
	History iter.Seq2[workload.Job, error]
	// Operator gives varqd the rights of a Slurm operator only. Without it varqd has the token
	// of SlurmUser, with which it can act as the jobs' owners.
	Operator bool
	// Looks is the time between two looks of varqd at the queue: a second or two if it is 0.
	Looks time.Duration
	// DefaultWatch leaves the section watch of varq.yaml out, so that varqd looks at the queue as
	// often as it does by default.
	DefaultWatch bool
	// RestTimeout is slurmrestd.timeout of varq.yaml, unless it is 0.
	RestTimeout time.Duration
	// VarqConf holds additional lines of varq.yaml.
	VarqConf string
	// SlurmConf holds additional lines of slurm.conf.
	SlurmConf string
	// Installed is the DESTDIR of an installation, "/" for the machine's own, or the folder of make
	// build, that the site uses and leaves as it is, with the configuration in the cluster's
	// folder. Without it, Start installs varq from the source tree.
	Installed string
	// Dir, CPUs and Detached are those of cluster.Options. Installed needs Dir. A site that is
	// Detached is stopped as a cluster is.
	Dir      string
	CPUs     int
	Detached bool
	// Bind lists folders of the machine that a cluster in a chroot sees at the same paths.
	Bind []string
	// NodeConf holds additional parameters of every node, and GresConf is the text of gres.conf.
	// Kinds are those of cluster.Options.
	NodeConf, GresConf string
	Kinds              []cluster.Kind
	// JobSubmit is that of cluster.Options.
	JobSubmit string
	// Boot and Crowd are those of cluster.Options.
	Boot  time.Duration
	Crowd int
	// Progress receives messages about the steps of the start. If it is nil, they are
	// discarded.
	Progress io.Writer
}

// Site is a running site.
type Site struct {
	*cluster.Cluster
	dest     string // DESTDIR of `make install`
	ours     bool   // dest goes with the site
	programs programs
	config   string // path of varq.yaml
	log      string // path of varqd's log
	address  string // HOST:PORT that varqd listens on
	varqd    *daemon
	standby  *daemon       // a second varqd that waits for the end of the first
	ahead    time.Duration // of varqd's clock, when it is started next
}

// Start installs varq from the source tree, starts a cluster that uses it, and starts varqd.
// On failure it removes everything again.
func Start(ctx context.Context, o Options) (s *Site, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	o.Version = cmp.Or(o.Version, cluster.Chosen())
	if err := cluster.Install(ctx, o.Version, o.Progress); err != nil {
		return nil, err
	}
	s = &Site{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
			s = nil
		}
	}()
	var env []string
	if o.Installed != "" {
		s.dest, s.config, s.log = o.Installed, filepath.Join(o.Dir, "varq", "varq.yaml"), filepath.Join(o.Dir, "varq", "varqd.log")
		env = []string{"VARQ_CONFIG=" + s.config}
	} else if err := s.install(ctx, o.Version, o.Progress); err != nil {
		return s, err
	}
	if s.programs, err = find(s.dest); err != nil {
		return s, err
	}
	var beside *cluster.Cluster
	if o.Beside != nil {
		beside = o.Beside.Cluster
	}
	s.Cluster, err = cluster.Start(ctx, cluster.Options{
		Version: o.Version, Name: o.Name, Beside: beside, Nodes: o.Nodes, Declared: o.Declared, Progress: o.Progress, Bind: append([]string{s.dest}, o.Bind...),
		Dir: o.Dir, CPUs: o.CPUs, Detached: o.Detached, Env: env,
		SlurmConf: o.SlurmConf, NodeConf: o.NodeConf, Kinds: o.Kinds, Boot: o.Boot, Crowd: o.Crowd, GresConf: o.GresConf,
		PlugStack: s.programs.plugStack(s.Config()),
		CliFilter: s.programs.cliFilter(), JobSubmit: o.JobSubmit,
		Programs: slices.Compact([]string{s.programs.bin, s.programs.sbin}),
	})
	if err != nil {
		return s, err
	}
	if o.History != nil {
		s.Say("loading past jobs into accounting")
		if _, err := s.LoadHistory(ctx, o.History); err != nil {
			return s, err
		}
	}
	if err := s.configure(ctx, o); err != nil {
		return s, err
	}
	return s, s.StartVarqd(ctx)
}

// ForTest starts a site for a test and stops it when the test ends. It skips the test as
// cluster.NeedSlurm does; an error of Start fails the test. If the test failed, ForTest logs the
// last lines of the logs of varqd, slurmctld and slurmrestd.
func ForTest(t testing.TB, o Options) *Site {
	t.Helper()
	cluster.NeedSlurm(t)
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("varqd's log:\n%s", s.VarqdLog())
			for _, d := range []cluster.Daemon{cluster.Slurmctld, cluster.Slurmrestd} {
				t.Logf("%s:\n%s", d, s.LogTail(d))
			}
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Stop stops varqd and the cluster, and removes all files of the site.
func (s *Site) Stop() error {
	var errs []error
	if s.standby != nil { // it goes first, as it would take over
		errs = append(errs, s.end(s.standby, syscall.SIGTERM))
	}
	if s.varqd != nil {
		errs = append(errs, s.StopVarqd())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Cluster.Stop())
	}
	if s.ours {
		errs = append(errs, os.RemoveAll(s.dest))
	}
	return errors.Join(errs...)
}

// eventually calls ok, every 0.1 s, until it returns true. It returns false if ctx ends or
// cluster.Patience passes first.
func eventually(ctx context.Context, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}
