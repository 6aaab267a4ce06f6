package config

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// TLS says how this site's varqd proves to those of other sites who it is, and knows them. The
// files are read again when they change.
type TLS struct {
	// Listen is HOST:PORT for the varqds of Peers; empty means that none can connect.
	Listen string `yaml:"listen"`
	// Certificate is the site's, of which its name is a DNS name, Key its key, and CA what the
	// certificates of all sites are signed with: files in PEM.
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	CA          string `yaml:"ca"`
}

// Given reports whether there are files.
func (t *TLS) Given() bool { return t.Certificate != "" }

// Peer is another site whose varqd may connect by TLS.
type Peer struct {
	// Name is the site's, as its certificate has it.
	Name string `yaml:"name"`
	// Users are those of this host for whom it may speak: names, or "all" for all but root, users
	// of the system and Slurm's operators.
	Users Names `yaml:"users"`
}

// MaxPeerUsers bounds how many users are named for one peer.
const MaxPeerUsers = 100_000

// PeerUsers returns for whom the peers may speak, by their names.
func (s *Server) PeerUsers() map[string][]string {
	users := make(map[string][]string, len(s.Peers))
	for _, p := range s.Peers {
		users[p.Name] = p.Users
	}
	return users
}

// checkTLS refuses what no varqd could work with.
func (s *Server) checkTLS(bad func(key, format string, args ...any)) {
	const key = "server.tls."
	files := []struct{ key, path string }{{"certificate", s.TLS.Certificate}, {"key", s.TLS.Key}, {"ca", s.TLS.CA}}
	given := s.TLS.Listen != "" || s.TLS.Certificate != "" || s.TLS.Key != "" || s.TLS.CA != ""
	for _, f := range files {
		switch {
		case given && f.path == "":
			bad(key+f.key, "is missing: certificate, key and ca belong together")
		case given && !filepath.IsAbs(f.path):
			bad(key+f.key, "%q is not an absolute path", f.path)
		}
	}
	if _, _, err := net.SplitHostPort(s.TLS.Listen); s.TLS.Listen != "" && err != nil {
		bad(key+"listen", "%q is not HOST:PORT", s.TLS.Listen)
	}
	if len(s.Peers) > 0 && s.TLS.Listen == "" {
		bad("server.peers", "they need server.tls.listen to connect to")
	}
	if len(s.Peers) > MaxSites {
		bad("server.peers", "%d are more than %d", len(s.Peers), MaxSites)
	}
	names := map[string]bool{}
	for i, p := range s.Peers {
		key := fmt.Sprintf("server.peers[%d].", i)
		switch {
		case !api.IsSiteName(p.Name):
			bad(key+"name", "%.50q is not a cluster's name: at most 40 of a-z, 0-9, _, . and -", p.Name)
		case names[p.Name]:
			bad(key+"name", "%q is the name of another one", p.Name)
		}
		names[p.Name] = true
		if len(p.Users) > MaxPeerUsers {
			bad(key+"users", "%d are more than %d", len(p.Users), MaxPeerUsers)
		}
		for _, user := range p.Users {
			switch {
			case user == "all" && len(p.Users) > 1:
				bad(key+"users", "\"all\" stands alone")
			case user == "" || len(user) > 256 || strings.ContainsAny(user, ": \t\n/,*"):
				bad(key+"users", "%.50q is not a user's name", user)
			}
		}
	}
}
