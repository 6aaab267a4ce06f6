package command

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// link connects to varqd. Its address is --endpoint, else VARQ_ENDPOINT, else the one in the
// configuration file.
type link struct {
	env      *Env
	endpoint string
}

func addEndpoint(root *cobra.Command, env *Env) *link {
	l := &link{env: env}
	root.PersistentFlags().StringVar(&l.endpoint, "endpoint", "",
		"where varqd is: `unix:///PATH` or tcp://HOST:PORT (default $VARQ_ENDPOINT, else "+config.DefaultPath+")")
	return l
}

func (l *link) dial() (*client.Client, error) {
	c, err := config.FindClient(l.env.Getenv)
	if err != nil {
		return nil, err
	}
	if l.endpoint != "" {
		c.Endpoint = l.endpoint
	}
	varqd, err := client.New(c.Endpoint, c.MungeSocket)
	if err != nil {
		return nil, err
	}
	varqd.User = c.User
	return varqd, nil
}
