package link

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// Sites returns the sites that --clusters names: the host's own without it, and with "all"
// those of the configuration file.
func (l *Link) Sites(clusters string) ([]*sites.Site, error) {
	own, err := config.FindClient(l.Getenv)
	if err != nil {
		return nil, err
	}
	known, err := config.FindSites(l.Getenv)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range known {
		names = append(names, known[i].Name)
	}
	option := "--clusters"
	if l.Site != "" {
		if clusters != "" {
			return nil, errors.New("--site does not go together with --clusters: --clusters says where the job may run")
		}
		option, clusters = "--site", l.Site
	}
	chosen := strings.Split(clusters, ",")
	switch clusters {
	case "":
		i := slices.IndexFunc(known, func(s config.Site) bool { return s.Endpoint == own.Endpoint })
		if i < 0 || l.Endpoint != "" {
			return l.unnamed()
		}
		chosen = names[i : i+1]
	case "all":
		chosen = names
	}
	if len(chosen) == 1 && !slices.Contains(names, chosen[0]) && slurmconf.IsOwn(chosen[0], slurmconf.OwnCluster(l.Getenv)) {
		return l.unnamed()
	}
	var found []*sites.Site
	for _, name := range chosen {
		i := slices.Index(names, name)
		switch {
		case name == "all":
			return nil, fmt.Errorf("%s: all stands alone: it is each cluster that %s names", option, config.Path(l.Getenv))
		case i < 0:
			if _, err := config.FindSite(l.Getenv, name); err != nil { // which says what is missing
				return nil, fmt.Errorf("%s: %w", option, err)
			}
			return nil, fmt.Errorf("%s: cluster %s is this one, and stands beside others only if %s names it (sites)", option, name, config.Path(l.Getenv))
		case slices.ContainsFunc(found, func(s *sites.Site) bool { return s.Name() == name }):
			return nil, fmt.Errorf("%s: %s is there twice", option, name)
		}
		if err := l.checkConf(&known[i]); err != nil {
			return nil, err
		}
		varqd, err := l.varqdOf(&known[i])
		if err != nil {
			return nil, err
		}
		found = append(found, &sites.Site{Site: known[i], Own: known[i].Endpoint == own.Endpoint, Named: true, Varqd: varqd})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("--clusters=all: %s has no section sites", config.Path(l.Getenv))
	}
	return found, nil
}

// unnamed returns the host's own cluster, of which the configuration file has no site. Its name is
// what the job's VARQ_SITE has: by the configuration file, else by slurm.conf.
func (l *Link) unnamed() ([]*sites.Site, error) {
	var name string
	if l.Endpoint == "" {
		var err error
		if name, err = config.FindOwnSite(l.Getenv); err != nil {
			return nil, err
		}
	}
	if name == "" {
		name = slurmconf.OwnCluster(l.Getenv)
	}
	varqd, err := l.Dial()
	return []*sites.Site{{Site: config.Site{Name: cmp.Or(name, sites.Here)}, Own: true, Varqd: varqd}}, err
}

// checkConf returns an error if jobs for a site would go to another cluster.
func (l *Link) checkConf(s *config.Site) error {
	if s.SlurmConf == "" {
		return nil
	}
	of, err := slurmconf.ClusterName(s.SlurmConf)
	if err != nil {
		return fmt.Errorf("cluster %s cannot be reached by sbatch (slurm_conf in %s): %w", s.Name, config.Path(l.Getenv), err)
	}
	if of != "" && of != s.Name {
		return fmt.Errorf("cluster %s: by slurm_conf in %s jobs would go to another cluster: %s has ClusterName=%s", s.Name, config.Path(l.Getenv), s.SlurmConf, of)
	}
	return nil
}

// varqdOf returns the client of the varqd that tells of a site: its own, or if it has none, that of
// this host's cluster.
func (l *Link) varqdOf(s *config.Site) (*client.Client, error) {
	if s.HasNoVarqd() {
		own, err := config.FindClient(l.Getenv)
		if err != nil {
			return nil, err
		}
		return dial(own)
	}
	c, err := config.FindSite(l.Getenv, s.Name)
	if err != nil {
		return nil, err
	}
	return dial(c)
}
