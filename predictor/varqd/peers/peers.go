// Package peers decides which other sites' varqds may connect by their certificates, and for which
// users they may speak.
//
// Invariants: no site may speak for varqd's own user, who may do what no other user may. Root,
// users of the system and Slurm's operators may see the data of others. A site may speak for such a
// user only if varq.yaml names the user for this site.
package peers

import (
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// All stands for all users except those that must be named. It is the only entry then.
const All = "all"

// prefix begins the name of the user as which a site's varqd is served. No real user has such a
// name: in /etc/passwd a colon ends the name.
const prefix = "site:"

// User returns the user as which the varqd of a site is served if it speaks for nobody.
func User(site string) string { return prefix + site }

// Site returns the site whose varqd a user stands for. It reports false for an ordinary user.
func Site(user string) (site string, is bool) { return strings.CutPrefix(user, prefix) }

// Options configure Peers.
type Options struct {
	// Users has, by name, the sites that may connect, and the users for whom each may speak: names,
	// or All.
	Users map[string][]string
	// Own is the user that varqd runs as.
	Own string
	// Operator reports whether a user may see the data of others.
	Operator func(user string) bool
	// UID returns the number of a user of this host. nil means that the operating system is asked.
	UID func(user string) (uint32, error)
	// Now is the clock.
	Now func() time.Time
}

// Peers are the sites whose varqds may connect. Its methods may be called concurrently.
type Peers struct {
	Options
	mu    sync.Mutex
	known map[string]knownUser
}

type knownUser struct {
	uid   uint32
	err   error
	until time.Time
}

// New returns the peers of a site.
func New(o Options) *Peers {
	if o.UID == nil {
		o.UID = LookUp
	}
	return &Peers{Options: o, known: map[string]knownUser{}}
}

// LookUp returns the number of the user of this host with exactly this name. A directory service
// may know a user by several names; the others do not count. If no user has the name, the error is
// a user.UnknownUserError.
func LookUp(name string) (uint32, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	if u.Username != name {
		return 0, user.UnknownUserError(name)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(uid), err
}

// Of returns the site to which a certificate with these DNS names belongs. It returns an error if
// the certificate belongs to no site, or to several.
func (p *Peers) Of(names []string) (site string, err error) {
	for _, name := range names {
		_, is := p.Users[name]
		switch {
		case !is || name == site:
		case site != "":
			return "", fmt.Errorf("the certificate is that of two sites, %s and %s", site, name)
		default:
			site = name
		}
	}
	if site == "" {
		return "", fmt.Errorf("the certificate is that of %.200q, and varq.yaml names no such site (server.peers)", names)
	}
	return site, nil
}

// firstUser is the least number of an ordinary user, as in login.defs. nobody is the number of the
// user nobody.
const (
	firstUser = 1000
	nobody    = 65534
)

// Speaks reports whether the varqd of a site may speak for a user.
func (p *Peers) Speaks(site, user string) bool {
	users := p.Users[site]
	switch {
	case user == "" || user == p.Own || strings.HasPrefix(user, prefix):
		return false
	case !slices.Equal(users, []string{All}):
		return slices.Contains(users, user)
	case user == "root" || p.Operator(user):
		return false
	}
	uid, err := p.uid(user)
	return err == nil && uid >= firstUser && uid != nobody
}

const (
	uidLife  = 5 * time.Minute
	maxKnown = 10_000
)

// uid remembers the numbers of users for a while, because a directory service can be slow.
func (p *Peers) uid(user string) (uint32, error) {
	now := p.Now()
	p.mu.Lock()
	k, ok := p.known[user]
	p.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.uid, k.err
	}
	k.uid, k.err = p.UID(user)
	k.until = now.Add(uidLife)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	p.known[user] = k
	return k.uid, k.err
}
