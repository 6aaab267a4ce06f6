package daemon

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/peers"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
)

// openIdentity reads the files by which other sites know this one.
func openIdentity(c *config.Config, now func() time.Time, log *slog.Logger) (*sitecert.Identity, error) {
	t := &c.Server.TLS
	return sitecert.Open(sitecert.Files{Certificate: t.Certificate, Key: t.Key, CA: t.CA}, now, log)
}

// certificateEvery is the time between two looks at the site's certificate.
const certificateEvery = 6 * time.Hour

// watchCertificate is a loop that logs what is wrong with the site's certificate, or soon will be.
func (d *Daemon) watchCertificate(ctx context.Context) {
	for {
		state := d.identity.State()
		for _, note := range state.Notes(d.config.OwnSite(), time.Now()) {
			d.log.Warn(note, "certificate", d.config.Server.TLS.Certificate)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(certificateEvery):
		}
	}
}

// known are the varqds of other sites: by certificates, or as this one's own user by munge. It
// implements server.Peers.
type known struct {
	*peers.Peers
	identity  *sitecert.Identity
	operators func() error // an error as long as nobody knows who Slurm's operators are
}

func (d *Daemon) newPeers(self string) known {
	operator := func(user string) bool { return d.premises.Operator(user) }
	return known{peers.New(peers.Options{Users: d.config.Server.PeerUsers(), Own: self, Operator: operator, Now: time.Now}), d.identity, d.keeperKnows}
}

// Of implements server.Peers.
func (k known) Of(certificates []*x509.Certificate) (string, error) {
	if err := k.identity.Verify(certificates); err != nil {
		return "", err
	}
	return k.Peers.Of(certificates[0].DNSNames)
}

// keeperKnows is Known of the keeper, which is made after the peers.
func (d *Daemon) keeperKnows() error { return d.premises.Known() }

// Admits implements server.Peers. As long as nobody knows who is an operator, anybody may be one,
// for whom no site speaks that speaks for all others.
func (k known) Admits(site, user string) error {
	if !k.Speaks(site, user) {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("site %s may not ask for user %.40q here (server.peers in varq.yaml)", site, user))
	}
	if slices.Equal(k.Users[site], []string{peers.All}) {
		return k.operators()
	}
	return nil
}

// groupsPeer is groups.Options.Peer.
func (k known) groupsPeer(user string) *groups.Peer {
	if user == k.Own {
		return &groups.Peer{Speaks: func(string) bool { return true }}
	}
	if site, is := peers.Site(user); is {
		return &groups.Peer{Site: site, Speaks: func(user string) bool { return k.Speaks(site, user) }}
	}
	return nil
}

// deaf returns groups.Options.Deaf: sites that may connect by certificates alone learn of those
// users for whom they may speak.
func (k known) deaf(c *config.Config) func(site, user string) bool {
	byMunge := map[string]bool{c.OwnSite(): true, "": true}
	byTLS := map[string]bool{}
	for i := range c.Sites {
		_, is := c.Sites[i].ByTLS()
		byTLS[c.Sites[i].Name], byMunge[c.Sites[i].Name] = is, !is || byMunge[c.Sites[i].Name]
	}
	return func(site, user string) bool {
		_, peer := k.Users[site]
		return !byMunge[site] && (byTLS[site] || peer) && !k.Speaks(site, user)
	}
}

// relay reaches the varqds of sites that know this one by its certificate, for its users. It
// implements server.Sites.
type relay struct {
	homes *homes
	log   *slog.Logger
}

// Forward implements server.Sites.
func (r relay) Forward(ctx context.Context, site, user, method, uri string, body []byte) (int, []byte, error) {
	if _, byTLS := r.homes.byTLS[site]; !byTLS {
		return 0, nil, api.Fault(api.ErrNotFound, fmt.Sprintf("varqd relays nothing to %.50q: its varq.yaml has no such site with tls://HOST:PORT", site))
	}
	to, err := r.homes.client(site)
	if err != nil {
		return 0, nil, api.Fault(api.ErrUnavailable, err.Error())
	}
	status, answer, err := to.Relay(ctx, user, method, uri, body)
	if err != nil {
		r.log.Info("a site does not answer", "site", site, "user", user, "error", err)
		return 0, nil, api.Fault(api.ErrUnavailable, fmt.Sprintf("site %s: %v; %s", site, err, afterwards(site, uri, err)))
	}
	return status, answer, nil
}

// afterwards tells what is known of a request that a site has not answered, and what to do next.
func afterwards(site, uri string, err error) string {
	path, _, _ := strings.Cut(uri, "?")
	switch {
	case !errors.As(err, new(*client.Unanswered)):
		return "the request did not get there: try again later ('varq sites' tells how it is)"
	case path == api.PathPlan:
		return "the request got there, and if a promise was made, that has no job, and lapses: try again later"
	case slices.Contains([]string{api.PathBind, api.PathCancel, api.PathConfirm, api.PathGroups, api.PathGroupCancel, api.PathAccept}, path):
		return fmt.Sprintf("the request got there, and may have been carried out: 'varq status --site=%s' tells, once it answers", site)
	}
	return "the request got there, and changes nothing: try again later"
}
