package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
)

// homes reaches the varqds that keep groups of promises: this one, and those of the sites that
// varq.yaml names, which know it by its user, or by its certificate. It implements keeper.Homes.
type homes struct {
	own      *groups.Groups
	self     string // the user that this process runs as
	sites    map[string]config.Client
	byTLS    map[string]string  // the addresses of the sites that know it by its certificate
	identity *sitecert.Identity // nil if it has none

	mu      sync.Mutex
	clients map[string]*client.Client
}

func newHomes(own *groups.Groups, self string, c *config.Config, identity *sitecert.Identity) *homes {
	h := &homes{own: own, self: self, sites: c.SiteClients(), byTLS: map[string]string{}, identity: identity, clients: map[string]*client.Client{}}
	for i := range c.Sites {
		if address, is := c.Sites[i].ByTLS(); is {
			h.byTLS[c.Sites[i].Name] = address
		}
	}
	return h
}

// ownUser returns the name of the user that this process runs as, or its id if it has none.
func ownUser() string {
	id := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// Knows implements keeper.Homes.
func (h *homes) Knows(home string) bool {
	_, known := h.sites[home]
	return known || home == ""
}

// client returns the client of a home that is not this one.
func (h *homes) client(home string) (*client.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.clients[home]; ok {
		return c, nil
	}
	at, known := h.sites[home]
	if !known {
		return nil, fmt.Errorf("varq.yaml names no site %q any more", home)
	}
	c, err := h.dial(home, at)
	if err != nil {
		return nil, err
	}
	h.clients[home] = c
	return c, nil
}

// dial returns a client of a site's varqd.
func (h *homes) dial(site string, at config.Client) (*client.Client, error) {
	address, byTLS := h.byTLS[site]
	switch {
	case byTLS && h.identity == nil:
		return nil, errNoCertificate
	case byTLS:
		return client.NewTLS(address, site, h.identity), nil
	}
	c, err := client.New(at.Endpoint, at.MungeSocket)
	if err != nil {
		return nil, err
	}
	c.User = at.User
	return c, nil
}

var errNoCertificate = errors.New("this site's varqd has no certificate (server.tls in varq.yaml)")

// Claim implements keeper.Homes.
func (h *homes) Claim(ctx context.Context, home string, c api.GroupClaim) (api.GateAnswer, error) {
	if home == "" {
		return h.own.ClaimGroup(ctx, h.self, c)
	}
	to, err := h.client(home)
	if err != nil {
		return api.GateAnswer{}, err
	}
	return to.ClaimGroup(ctx, c)
}

// States implements keeper.Homes.
func (h *homes) States(ctx context.Context, home string, q api.GroupsQuery) ([]api.GroupState, error) {
	if home == "" {
		return h.own.GroupStates(ctx, h.self, q)
	}
	to, err := h.client(home)
	if err != nil {
		return nil, err
	}
	return to.GroupStates(ctx, q)
}

// learnDelay has groups learn from a wait: from its rank under the forecast on which promises rest.
func (d *Daemon) learnDelay(r scores.Rank) {
	if r.Forecaster == promising {
		d.groups.LearnDelay(r.Eligible, r.Rank)
	}
}

// promising is the forecaster on which promises rest.
const promising = "blend"

// The time between two questions to another site about its delays, and that after one that was not
// answered.
const (
	exchangeEvery = time.Hour
	exchangeAgain = 5 * time.Minute
)

// exchange is a loop that asks the other sites how their delays go.
func (h *homes) exchange(ctx context.Context, log *slog.Logger) {
	for {
		pause := exchangeEvery
		for name := range h.sites {
			if name == h.own.Site {
				continue
			}
			if err := h.askDelays(ctx, name); err != nil {
				log.Info("a site does not tell how its delays go", "site", name, "error", err)
				pause = exchangeAgain
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (h *homes) askDelays(ctx context.Context, site string) error {
	c, err := h.client(site)
	if err != nil {
		return err
	}
	d, err := c.Delays(ctx)
	if err != nil {
		return err
	}
	return h.own.SetDelays(site, d)
}
