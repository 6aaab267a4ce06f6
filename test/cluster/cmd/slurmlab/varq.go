package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	f.StringVar(&v.destdir, "destdir", "/", "with --varq: the varq that make install DESTDIR=... has put there, in place of this machine's")
}

// up starts a Slurm with varq, whose history varqd has read.
func (v *varq) up(ctx context.Context, o cluster.Options, past history) (c *cluster.Cluster, err error) {
	destdir, err := filepath.Abs(v.destdir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(destdir, "usr/sbin/varqd")); err != nil {
		return nil, fmt.Errorf("no varq is installed: %w\nInstall the packages varq-predictor and varq-slurm, or say by --destdir where make install has put it", err)
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
	if err != nil {
		return nil, err
	}
	return s.Cluster, nil
}
