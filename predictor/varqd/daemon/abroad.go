package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/abroad"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// sitesAbroad are the sites of varq.yaml that have no varqd, in its order.
type sitesAbroad struct {
	list    []*abroad.Site
	clients []*slurmrestd.Client
}

// defaultTimeout bounds one request to such a slurmrestd.
const defaultTimeout = 30 * time.Second

func newSitesAbroad(c *config.Config, records *idle.Store, now func() int64, clock func() time.Time, log *slog.Logger) (s sitesAbroad, err error) {
	for i := range c.Sites {
		site := &c.Sites[i]
		if !site.HasNoVarqd() {
			continue
		}
		client, err := connectAbroad(site, clock)
		if err != nil {
			return s, err
		}
		prices, unit := site.Prices(time.Local)
		s.clients = append(s.clients, client)
		s.list = append(s.list, abroad.New(abroad.Options{
			Name: site.Name, Source: client, Method: site.Method(), Scale: site.Scale(), Partition: site.Partition, Prob: c.Plan.Prob,
			Power: site.Power, Tariff: prices, Unit: unit, Idle: records, Now: now, Zone: time.Local, Log: log,
		}))
	}
	return s, nil
}

// connectAbroad returns the client of the slurmrestd of a site without varqd.
func connectAbroad(s *config.Site, clock func() time.Time) (*slurmrestd.Client, error) {
	r := *s.Slurmrestd
	r.Timeout = cmp.Or(r.Timeout, config.Duration(defaultTimeout))
	client, _, err := connect(r, slurmrestd.Options{Now: clock})
	if err != nil {
		return nil, fmt.Errorf("site %s: %w", s.Name, err)
	}
	return client, nil
}

// run reads all sites until ctx is done.
func (s *sitesAbroad) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, site := range s.list {
		all.Go(func() { site.Run(ctx) })
	}
	all.Wait()
}

func (s *sitesAbroad) close() error {
	for _, c := range s.clients {
		c.Close()
	}
	return nil
}

// Probe answers a probe about this cluster, or about one that has no varqd.
func (s service) Probe(ctx context.Context, user string, req *api.ProbeRequest) (api.ProbeAnswer, error) {
	if req.Site == "" {
		return s.Desk.Probe(ctx, user, req)
	}
	for _, site := range s.daemon.abroad.list {
		if site.Name == req.Site {
			return site.Probe(ctx, user, req)
		}
	}
	return api.ProbeAnswer{}, api.Fault(api.ErrInvalid, fmt.Sprintf("varqd here knows no site %.40q without varqd: its varq.yaml must have it, with slurmrestd", req.Site))
}

// Sites tells how the clusters are that have no varqd.
func (s service) Sites(context.Context, string) ([]api.SiteState, error) {
	states := []api.SiteState{}
	for _, site := range s.daemon.abroad.list {
		states = append(states, site.State())
	}
	return states, nil
}
