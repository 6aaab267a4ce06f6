// Package link connects the commands of varq to varqds: to the one that they ask, to those of the
// sites where jobs may run, and to those that keep groups of jobs.
package link

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// Link says which varqd is asked. Its address is Endpoint, else that of Site, else VARQ_ENDPOINT,
// else the one in the configuration file.
type Link struct {
	Endpoint string // unix:///PATH or tcp://HOST:PORT
	Site     string // one of those in the configuration file
	Getenv   func(string) string
	Alone    Alone // who answers where there is no varqd, or nil

	forecasts bool // the user's own forecaster is asked
}

// Add adds the options --endpoint and --site to root and all of its subcommands.
func (l *Link) Add(root *cobra.Command) {
	root.PersistentFlags().StringVar(&l.Endpoint, "endpoint", "",
		"where varqd is: `unix:///PATH` or tcp://HOST:PORT (default $VARQ_ENDPOINT, else "+config.DefaultPath+")")
	root.PersistentFlags().StringVar(&l.Site, "site", "", "ask the varqd of this `cluster`, of those in "+config.DefaultPath+" (sites)")
}

// Cluster returns the name of the cluster of the varqd that is asked, or "" if it is not known.
func (l *Link) Cluster() string {
	return cmp.Or(l.Site, slurmconf.OwnCluster(l.Getenv))
}

// Dial returns a client of the varqd.
func (l *Link) Dial() (*client.Client, error) {
	find := config.FindClient
	if l.Site != "" {
		find = func(getenv func(string) string) (config.Client, error) { return config.FindSite(getenv, l.Site) }
	}
	c, err := find(l.Getenv)
	if _, unknown := errors.AsType[*config.NoSiteError](err); unknown {
		return nil, cli.UsageError{Command: "varq", Err: fmt.Errorf("--site: %w", err)}
	} else if err != nil {
		return nil, err
	}
	if l.Endpoint != "" {
		c.Endpoint = l.Endpoint
	}
	return dial(c)
}

// Advice says what to do about a varqd that is not reachable: lines without the last line break.
func (l *Link) Advice() string {
	switch {
	case l.forecasts:
		return "It is your own forecaster, which begins anew if it has ended: ask again."
	case l.Own():
		return "This command needs varqd, which this cluster does not have. when, predict, quote --advisory\nand shadow --mine do not need it. If there is one, say where by --endpoint or VARQ_ENDPOINT."
	}
	whose, where := "Is it", "--endpoint, VARQ_ENDPOINT, or client.endpoint in "
	known, _ := config.FindSites(l.Getenv)
	i := slices.IndexFunc(known, func(s config.Site) bool { return s.Name == l.Site })
	if i >= 0 && l.Endpoint == "" && !byTLS(&known[i]) {
		whose, where = "Is the varqd of cluster "+l.Site, "--endpoint, or the endpoint of "+l.Site+" (sites) in "
	}
	return fmt.Sprintf("%s running? 'systemctl status varqd' on its host tells. Is it elsewhere?\nSay where by %s%s.", whose, where, config.Path(l.Getenv))
}

// byTLS reports whether the varqd of a site is asked by that of this host.
func byTLS(s *config.Site) bool {
	_, is := s.ByTLS()
	return is
}

// dial returns a client of the varqd that c describes.
func dial(c config.Client) (*client.Client, error) {
	varqd, err := client.New(c.Endpoint, c.MungeSocket)
	if err != nil {
		return nil, err
	}
	varqd.User, varqd.Site = c.User, c.Relay
	return varqd, nil
}
