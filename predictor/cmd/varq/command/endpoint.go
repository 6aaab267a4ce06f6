package command

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// link connects to varqd. Its address is --endpoint, else that of --site, else VARQ_ENDPOINT, else
// the one in the configuration file.
type link struct {
	env            *Env
	endpoint, site string
}

func addEndpoint(root *cobra.Command, env *Env) *link {
	l := &link{env: env}
	root.PersistentFlags().StringVar(&l.endpoint, "endpoint", "",
		"where varqd is: `unix:///PATH` or tcp://HOST:PORT (default $VARQ_ENDPOINT, else "+config.DefaultPath+")")
	root.PersistentFlags().StringVar(&l.site, "site", "", "ask the varqd of this `cluster`, of those in "+config.DefaultPath+" (sites)")
	return l
}

// cluster returns the name of the cluster of the varqd that is asked, or "" if it is not known.
func (l *link) cluster() string {
	return cmp.Or(l.site, slurmconf.OwnCluster(l.env.Getenv))
}

func (l *link) dial() (*client.Client, error) {
	find := config.FindClient
	if l.site != "" {
		find = func(getenv func(string) string) (config.Client, error) { return config.FindSite(getenv, l.site) }
	}
	c, err := find(l.env.Getenv)
	if _, unknown := errors.AsType[*config.NoSiteError](err); unknown {
		return nil, cli.UsageError{Command: "varq", Err: err}
	} else if err != nil {
		return nil, err
	}
	if l.endpoint != "" {
		c.Endpoint = l.endpoint
	}
	return dial(c)
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
