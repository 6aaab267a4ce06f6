// Package nodeaddr tells whether a message comes from the node that it speaks of, by the addresses
// from which it seems to come.
//
// Invariant: of a node speaks only a host of which each of these addresses is one to which the
// node's NodeAddr, NodeHostname or NodeName in Slurm resolves, here.
package nodeaddr

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

const (
	// life is how long the addresses of a node are remembered, and leastLife how long at least
	// although they do not fit.
	life, leastLife = time.Hour, time.Minute
	// lookupTime bounds the search for the addresses of a node.
	lookupTime = 5 * time.Second
)

// Nodes knows the nodes of a cluster by their addresses. Its methods may be called concurrently.
type Nodes struct {
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)
	own    func() ([]net.Addr, error)
	now    func() time.Time

	mu    sync.Mutex
	nodes map[string]*node // nil before the first List
}

// node is one node.
type node struct {
	hosts []string // names and addresses; they do not change
	known *known   // nil before the first search
}

// known is what was found. It does not change.
type known struct {
	addresses []netip.Addr
	at        time.Time
}

// New returns Nodes that know none yet. Addresses are looked up as this host does it.
func New() *Nodes {
	return &Nodes{
		lookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		own: net.InterfaceAddrs,
		now: time.Now,
	}
}

// List tells which nodes there are.
func (n *Nodes) List(list []slurm.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	nodes := make(map[string]*node, len(list))
	for i := range list {
		l := &list[i]
		hosts := []string{l.Address, l.Hostname, l.Name}
		slices.Sort(hosts)
		hosts = slices.DeleteFunc(slices.Compact(hosts), func(host string) bool { return host == "" })
		nodes[l.Name] = &node{hosts: hosts}
		if before := n.nodes[l.Name]; before != nil && slices.Equal(before.hosts, hosts) {
			nodes[l.Name] = before
		}
	}
	n.nodes = nodes
}

// Check returns an error, a fault of package api, unless a message that seems to come from all
// these addresses comes from the node with that name. A loopback address stands for this host.
func (n *Nodes) Check(ctx context.Context, name string, from []netip.Addr) error {
	n.mu.Lock()
	there, node := n.nodes != nil, n.nodes[name]
	var found *known
	if node != nil {
		found = node.known
	}
	n.mu.Unlock()
	switch {
	case !there:
		return api.Fault(api.ErrUnavailable, "varqd has not read the nodes since it started")
	case node == nil:
		return api.Fault(api.ErrNotFound, fmt.Sprintf("node: Slurm has no node %.40q; its name is NodeName in slurm.conf", name))
	}
	wrong, fits := netip.Addr{}, false
	if found != nil && n.now().Sub(found.at) < life {
		wrong, fits = n.stranger(found.addresses, from)
	}
	if !fits && (found == nil || n.now().Sub(found.at) >= leastLife) {
		found = &known{n.addresses(ctx, node.hosts), n.now()}
		n.mu.Lock()
		node.known = found
		n.mu.Unlock()
		wrong, fits = n.stranger(found.addresses, from)
	}
	if !fits {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("node: %v speaks for %s, which has the addresses %v by its NodeAddr, NodeHostname and NodeName on varqd's host", wrong, name, found.addresses))
	}
	return nil
}

// addresses returns to which addresses the names of a host resolve. Names that do not are left out.
func (n *Nodes) addresses(ctx context.Context, hosts []string) (all []netip.Addr) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	for _, host := range hosts {
		found, _ := n.lookUp(ctx, host)
		for _, a := range found {
			all = append(all, a.Unmap().WithZone(""))
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// stranger returns the first of the addresses in from that is none of a node's, and true if there
// is no such address.
func (n *Nodes) stranger(addresses, from []netip.Addr) (wrong netip.Addr, fits bool) {
	for _, a := range from {
		if its := slices.Contains(addresses, a) || n.isHere(a) && slices.ContainsFunc(addresses, n.isHere); !its {
			return a, false
		}
	}
	return netip.Addr{}, len(from) > 0
}

// isHere reports whether an address is one of this host's own.
func (n *Nodes) isHere(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	own, _ := n.own() // none if they cannot be read
	return slices.ContainsFunc(own, func(o net.Addr) bool {
		prefix, err := netip.ParsePrefix(o.String())
		return err == nil && prefix.Addr().Unmap() == a
	})
}
