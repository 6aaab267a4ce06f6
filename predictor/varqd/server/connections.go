package server

import (
	"slices"
	"sync"
)

// connections are those that are open. Each counts for a user, or for another site: on a unix
// socket from the beginning, elsewhere once a credential has proven the user, or a certificate the
// site. Before that it is unproven, and counts for its address.
//
// Invariant: at most maxConnections count for one user or address, and at most maxUnproven
// are unproven. An address has many users, and any of them can fill its share. So an
// unproven newcomer is never refused: another one makes room for it.
type connections struct {
	mu       sync.Mutex
	open     map[string][]*conn // by whom they count for, the oldest first
	unproven int
}

func newConnections() *connections { return &connections{open: map[string][]*conn{}} }

// admit takes in a new connection. It reports false if the user at the other end of a unix
// socket has too many.
func (cs *connections) admit(c *conn) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch {
	case c.local && len(cs.open[c.peer]) >= maxConnections:
		return false
	case c.local:
	case len(cs.open[c.peer]) >= maxConnections:
		cs.evict(cs.open[c.peer])
	case cs.unproven >= maxUnproven:
		cs.evict(cs.fullest())
	}
	c.from = cs
	cs.add(c, c.peer)
	return true
}

// evict closes the oldest connection that has no whole request, or the oldest of all if each
// has one. A request comes whole at once unless its sender holds it back, and is then a
// matter of milliseconds.
func (cs *connections) evict(from []*conn) {
	victim := from[max(0, slices.IndexFunc(from, func(c *conn) bool { return !c.whole }))]
	cs.remove(victim)
	victim.Conn.Close()
}

// fullest returns the unproven connections of the address that has most of them.
func (cs *connections) fullest() (most []*conn) {
	for _, of := range cs.open {
		if !of[0].proven() && len(of) > len(most) {
			most = of
		}
	}
	return most
}

func (c *conn) proven() bool { return c.local || c.key != c.peer }

// arrived notes that a request has come whole on a connection.
func (cs *connections) arrived(c *conn) { cs.setWhole(c, true) }

// answered notes that the request is answered.
func (cs *connections) answered(c *conn) { cs.setWhole(c, false) }

func (cs *connections) setWhole(c *conn, whole bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.whole = whole
}

// prove counts a connection for the user or site that has proven to ask by it. If that has too
// many, an older one without a whole request makes room. If there is none, prove reports
// false.
func (cs *connections) prove(c *conn, key string) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.gone || c.key == key {
		return true
	}
	if of := cs.open[key]; len(of) >= maxConnections {
		if !slices.ContainsFunc(of, func(c *conn) bool { return !c.whole }) {
			return false
		}
		cs.evict(of)
	}
	cs.remove(c)
	cs.add(c, key)
	return true
}

// leave forgets a connection that is closed.
func (cs *connections) leave(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !c.gone {
		cs.remove(c)
	}
}

func (cs *connections) add(c *conn, key string) {
	c.key, c.gone = key, false
	cs.open[key] = append(cs.open[key], c)
	if !c.proven() {
		cs.unproven++
	}
}

func (cs *connections) remove(c *conn) {
	if !c.proven() {
		cs.unproven--
	}
	c.gone = true
	rest := slices.DeleteFunc(cs.open[c.key], func(other *conn) bool { return other == c })
	cs.open[c.key] = rest
	if len(rest) == 0 {
		delete(cs.open, c.key)
	}
}
