package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// varq says which varq a cluster gets.
type varq struct {
	wanted  bool
	destdir string
}

func (v *varq) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&v.wanted, "varq", false, "with the installed varq, and a synthetic history unless --history names one")
	f.StringVar(&v.destdir, "destdir", "", "with --varq: the varq that make install DESTDIR=... has put there, or make build (default the one that slurmlab came with, or this machine's)")
}

// dest returns the absolute path of the installation, which is by default the one of which this
// program is a part.
func (v *varq) dest() (string, error) {
	if v.destdir != "" {
		return filepath.Abs(v.destdir)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(self)
	if _, err := os.Stat(filepath.Join(dir, "varqd")); err != nil {
		return "/", nil // it is a part of none, as of go run
	}
	for _, sbin := range []string{"/usr/local/sbin", "/usr/sbin"} {
		if root, ok := strings.CutSuffix(dir, sbin); ok {
			return filepath.Join("/", root), nil
		}
	}
	return dir, nil
}

// up starts a Slurm with varq, whose history varqd has read.
func (v *varq) up(ctx context.Context, o cluster.Options, past history) (c *cluster.Cluster, err error) {
	destdir, err := v.dest()
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "varq-slurm-"); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				_ = os.Remove(o.Dir) // unless the cluster that did not start has removed it
			}
		}()
	} else if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if past.source == "" {
		past.source = "synthetic"
	}
	s, err := site.Start(ctx, site.Options{
		Installed: destdir, Dir: o.Dir, Nodes: o.Nodes, CPUs: o.CPUs, Detached: o.Detached, Progress: o.Progress,
		History: past.read(o.Nodes, o.CPUs, time.Now().Unix()),
	})
	if errors.Is(err, site.ErrNotInstalled) {
		err = fmt.Errorf("%w\nInstall the packages varq-predictor and varq-slurm, or say by --destdir where make install has put it", err)
	}
	if err != nil {
		return nil, err
	}
	return s.Cluster, nil
}
