package config

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
)

// Site is a cluster with a varqd of its own, to which a command of varq's speaks that names it; or,
// with Slurmrestd, one without.
type Site struct {
	// Name is what Slurm calls the cluster (ClusterName).
	Name string `yaml:"name"`
	// Endpoint, User and MungeSocket are as of Client. Where the clusters share munge's key,
	// MungeSocket is empty. Where they do not, Endpoint may be tls://HOST:PORT: there varqds speak
	// to each other alone, and relay what users ask.
	Endpoint    string `yaml:"endpoint"`
	User        string `yaml:"user"`
	MungeSocket string `yaml:"munge_socket"`
	// SlurmConf is the slurm.conf by which this host's sbatch reaches the cluster. If it is empty,
	// sbatch --clusters does, which needs a slurmdbd that knows both.
	SlurmConf string `yaml:"slurm_conf"`
	// Bin is the folder of the sbatch that is of the cluster's version; if it is empty, sbatch is
	// found as ever.
	Bin string `yaml:"bin"`

	Bare `yaml:",inline"`
}

// MaxSites bounds how many sites there are.
const MaxSites = 1000

// client returns how to reach the site's varqd. What the site does not say is as in the section
// client.
func (s *Site) client(own Client) Client {
	return Client{Endpoint: s.Endpoint, User: cmp.Or(s.User, own.User), MungeSocket: cmp.Or(s.MungeSocket, own.MungeSocket)}
}

// tlsScheme begins the endpoint of a varqd that knows others by their certificates.
const tlsScheme = "tls://"

// ByTLS returns HOST:PORT of the site's varqd if that knows others by their certificates.
func (s *Site) ByTLS() (address string, is bool) { return strings.CutPrefix(s.Endpoint, tlsScheme) }

// SiteClients returns how to reach the varqds of all sites that have one, by their names.
func (c *Config) SiteClients() map[string]Client {
	clients := make(map[string]Client, len(c.Sites))
	for i := range c.Sites {
		if c.Sites[i].HasNoVarqd() {
			continue
		}
		clients[c.Sites[i].Name] = c.Sites[i].client(c.Client)
	}
	return clients
}

// OwnSite returns the name of the site whose varqd has this configuration: the one at which
// clients, or others, reach it. It is empty if Sites has no such site.
func (c *Config) OwnSite() string {
	for _, s := range c.Sites {
		if s.HasNoVarqd() {
			continue
		}
		switch s.Endpoint {
		case c.Client.Endpoint, "unix://" + c.Server.Socket, "tcp://" + c.Server.Listen, tlsScheme + c.Server.TLS.Listen:
			return s.Name
		}
	}
	return ""
}

func checkSites(sites []Site, bad func(key, format string, args ...any)) {
	if len(sites) > MaxSites {
		bad("sites", "%d are more than %d", len(sites), MaxSites)
	}
	names := map[string]bool{}
	for i, s := range sites {
		key := fmt.Sprintf("sites[%d].", i)
		switch {
		case !api.IsSiteName(s.Name):
			bad(key+"name", "%.50q is not a cluster's name: at most 40 of a-z, 0-9, _, . and -", s.Name)
		case s.Name == "all":
			bad(key+"name", "%q stands for all clusters", s.Name)
		case names[s.Name]:
			bad(key+"name", "%q is the name of another one", s.Name)
		}
		names[s.Name] = true
		s.checkBare(key, bad)
		switch address, byTLS := s.ByTLS(); {
		case s.HasNoVarqd():
			if s.Endpoint != "" || s.User != "" || s.MungeSocket != "" {
				bad(key+"slurmrestd", "it stands for a cluster without varqd, of which endpoint, user and munge_socket are: leave it out, or them")
			}
		case byTLS:
			if !isHostPort(address) {
				bad(key+"endpoint", "%q: tls:// is followed by HOST:PORT alone", s.Endpoint)
			}
			if s.MungeSocket != "" || s.User != "" {
				bad(key+"endpoint", "%q: varqds know each other by certificates there; munge_socket and user are of no use", s.Endpoint)
			}
		case !strings.HasPrefix(s.Endpoint, "unix:///") && !strings.HasPrefix(s.Endpoint, "tcp://"):
			bad(key+"endpoint", "%q is none of unix:///PATH, tcp://HOST:PORT and tls://HOST:PORT", s.Endpoint)
		}
		for _, path := range []struct{ key, value string }{{"munge_socket", s.MungeSocket}, {"slurm_conf", s.SlurmConf}, {"bin", s.Bin}} {
			if path.value != "" && !filepath.IsAbs(path.value) {
				bad(key+path.key, "%q is not an absolute path", path.value)
			}
		}
	}
}

// isHostPort reports whether text is HOST:PORT and no more. HOST may be empty, as it may be where
// varqd listens.
func isHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	return err == nil && !strings.ContainsAny(host, "/?#@ \t\r\n") && notNumber == nil && number != 0
}

// FindOwnSite returns the name that the configuration file has for this host's cluster; see
// OwnSite.
func FindOwnSite(getenv func(string) string) (string, error) {
	c, err := find(getenv)
	return c.OwnSite(), err
}

// FindSites returns the sites of the configuration file, none if it has none or is missing.
func FindSites(getenv func(string) string) ([]Site, error) {
	c, err := find(getenv)
	return c.Sites, err
}

// FindSite returns how to reach the varqd of a site that the configuration file names: with tls://
// by that of this host, as FindClient does, which relays. The host's own cluster has its name also
// where the file does not name it.
func FindSite(getenv func(string) string, name string) (Client, error) {
	c, err := find(getenv)
	if err != nil {
		return Client{}, err
	}
	names := make([]string, len(c.Sites))
	for i := range c.Sites {
		if names[i] = c.Sites[i].Name; names[i] == name {
			if c.Sites[i].HasNoVarqd() {
				return Client{}, &NoSiteError{fmt.Sprintf("cluster %s has no varqd: only varq reserve and varq sites know it", name)}
			}
			if _, byTLS := c.Sites[i].ByTLS(); byTLS {
				own := c.ownClient(getenv)
				own.Relay = name
				return own, nil
			}
			return c.Sites[i].client(c.Client), nil
		}
	}
	switch {
	case slurmconf.IsOwn(name, slurmconf.OwnCluster(getenv)):
		return c.ownClient(getenv), nil
	case len(names) == 0:
		return Client{}, &NoSiteError{fmt.Sprintf("there is no cluster %.50q: %s has no section sites", name, Path(getenv))}
	}
	return Client{}, &NoSiteError{fmt.Sprintf("there is no cluster %.50q in %s: there are %s", name, Path(getenv), strings.Join(names, ", "))}
}

// NoSiteError is the error of a name that is none of a site whose varqd can be asked.
type NoSiteError struct{ text string }

func (e *NoSiteError) Error() string { return e.text }
