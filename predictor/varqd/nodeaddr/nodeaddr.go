// Package nodeaddr decides whether a message about a node comes from the node itself. It goes by
// the addresses from which the message seems to come.
//
// Invariant: a message is accepted only if each of these addresses is an address of the node. The
// node's addresses are those to which its NodeAddr, NodeHostname and NodeName in Slurm resolve on
// this host. All addresses of this host, loopback included, count as one.
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
	// life is how long the addresses of a node are remembered. After leastLife they are looked up
	// again if a message does not fit them.
	life, leastLife = time.Hour, time.Minute
	// lookupTime bounds the look-up of the addresses of a node.
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

type node struct {
	hosts []string // names and addresses; they do not change
	known *known   // nil before the first search
}

// known is the result of a look-up. It does not change.
type known struct {
	addresses []netip.Addr
	at        time.Time
}

// New returns Nodes that know no node yet. Addresses are looked up by this host's resolver.
func New() *Nodes {
	return &Nodes{
		lookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		own: net.InterfaceAddrs,
		now: time.Now,
	}
}

// List sets which nodes there are.
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

// Check returns nil if a message that seems to come from all these addresses comes from the node
// with this name. Otherwise it returns a fault of package api. A loopback address stands for this
// host.
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

// addresses returns the addresses to which the names of a host resolve. It leaves out names that do
// not resolve.
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

// stranger returns the first address in from that is not one of the node's addresses. It reports
// true if there is no such address, and from is not empty.
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
