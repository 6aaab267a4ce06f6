// Package site runs a whole site in one folder: a private Slurm, varq installed by `make
// install` as a system administrator would, and varqd. The end-to-end tests, the benchmarks
// and the demonstration use it.
package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
)

// Options say what site to start. The zero value is 8 nodes, Slurm 22.05 and no
// history.
type Options struct {
	Nodes   int
	Version cluster.Version
	// History is loaded into the accounting database before varqd starts.
	History iter.Seq2[workload.Job, error]
	// SlurmConf holds further lines of slurm.conf.
	SlurmConf string
	// Progress is told what is being done; nil for silence.
	Progress io.Writer
}

// Site is a running site.
type Site struct {
	*cluster.Cluster
	dest    string // what `make install` calls DESTDIR
	address string // HOST:PORT that varqd listens on
	varqd   *daemon
}

// Start installs varq from the source tree and starts a cluster that uses it.
func Start(ctx context.Context, o Options) (s *Site, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.Version == "" {
		o.Version = cluster.Slurm2205
	}
	if err := cluster.Install(ctx, o.Version, o.Progress); err != nil {
		return nil, err
	}
	dest, err := os.MkdirTemp("", "varq-site-")
	if err != nil {
		return nil, err
	}
	s = &Site{dest: dest}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
			s = nil
		}
	}()
	if err := os.Chmod(dest, 0o755); err != nil {
		return s, err
	}
	fmt.Fprintln(o.Progress, "installing varq with make install DESTDIR="+dest)
	if err := s.install(ctx, o.Version); err != nil {
		return s, err
	}
	plugStack, err := s.plugStack()
	if err != nil {
		return s, err
	}
	s.Cluster, err = cluster.Start(ctx, cluster.Options{
		Version: o.Version, Nodes: o.Nodes, Progress: o.Progress, Bind: []string{dest},
		SlurmConf: o.SlurmConf,
		PlugStack: plugStack,
		CliFilter: s.cliFilter(),
	})
	if err != nil {
		return s, err
	}
	if o.History != nil {
		if _, err := s.LoadHistory(ctx, o.History); err != nil {
			return s, err
		}
	}
	if err := s.configure(); err != nil {
		return s, err
	}
	return s, s.StartVarqd(ctx)
}

// ForTest starts a site for one test, or skips it when this machine cannot run
// one. Without a version in the options, VARQ_SLURM24=1 in the environment
// selects Slurm 24.11. The site is stopped when the test ends; the logs of a failed test's
// daemons are shown.
func ForTest(t testing.TB, o Options) *Site {
	t.Helper()
	if o.Version == "" && os.Getenv("VARQ_SLURM24") == "1" {
		o.Version = cluster.Slurm2411
	}
	if testing.Short() {
		t.Skip("a private Slurm takes its time; not with -short")
	}
	s, err := Start(context.Background(), o)
	if errors.Is(err, cluster.ErrNotRoot) {
		t.Skip(err)
	}
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

// Stop ends everything and removes it.
func (s *Site) Stop() error {
	var errs []error
	if s.varqd != nil {
		errs = append(errs, s.StopVarqd())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Cluster.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dest))...)
}

// installed returns the name of an installed file.
func (s *Site) installed(name string) string { return filepath.Join(s.dest, name) }

// eventually calls ok every tenth of a second until it holds; false says that it
// never does.
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
