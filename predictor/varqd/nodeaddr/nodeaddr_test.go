package nodeaddr

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

func addresses(list string) (all []netip.Addr) {
	for _, text := range strings.Fields(list) {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

// TestCheck: a node may speak for itself, by any of its names, and for no other node. This host may
// speak for the node that runs on it.
func TestCheck(t *testing.T) {
	n := New()
	hosts := map[string]string{"ib-n1": "10.0.0.1", "n1": "10.9.0.1 fd00::1", "10.0.0.2": "10.0.0.2", "n2": "10.9.0.2", "head": "192.0.2.7", "mapped": "::ffff:10.0.0.4"}
	n.lookUp = func(_ context.Context, host string) ([]netip.Addr, error) {
		if hosts[host] == "" {
			return nil, errors.New("no such host")
		}
		return addresses(hosts[host]), nil
	}
	n.own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("192.0.2.7"), Mask: net.CIDRMask(24, 32)}}, nil
	}
	now := time.Unix(1_700_000_000, 0)
	n.now = func() time.Time { return now }
	if err := n.Check(t.Context(), "n1", addresses("10.0.0.1")); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("before the nodes are known: %v", err)
	}
	list := []slurm.Node{{Name: "n1", Address: "ib-n1", Hostname: "n1"}, {Name: "n2", Address: "10.0.0.2"}, {Name: "head", Address: "head"}, {Name: "gone", Address: "gone"}, {Name: "mapped"}}
	n.List(list)
	for _, c := range []struct {
		node, from string
		want       error
	}{
		{"n1", "10.0.0.1", nil},
		{"n1", "10.9.0.1 10.0.0.1", nil},
		{"n1", "fd00::1", nil},
		{"n2", "10.0.0.2", nil},
		{"mapped", "10.0.0.4", nil},
		// another node's name, by the connection or by the credential
		{"n1", "10.0.0.2", api.ErrForbidden},
		{"n1", "10.0.0.2 10.0.0.1", api.ErrForbidden},
		{"n1", "10.0.0.1 10.0.0.2", api.ErrForbidden},
		{"n1", "", api.ErrForbidden},
		{"gone", "10.0.0.1", api.ErrForbidden},
		{"n3", "10.0.0.1", api.ErrNotFound},
		// this host
		{"head", "127.0.0.1", nil},
		{"head", "::1", nil},
		{"head", "127.0.0.1 192.0.2.7", nil},
		{"n1", "127.0.0.1", api.ErrForbidden},
		{"n1", "127.0.0.1 10.0.0.1", api.ErrForbidden},
	} {
		if err := n.Check(t.Context(), c.node, addresses(c.from)); !errors.Is(err, c.want) {
			t.Errorf("%s from %s: %v, want %v", c.node, c.from, err, c.want)
		}
	}
	// A node's new address is accepted within a minute. Its old address is refused at once.
	hosts["n2"] = "10.9.0.22"
	if err := n.Check(t.Context(), "n2", addresses("10.9.0.22")); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("just after the move: %v", err)
	}
	now = now.Add(leastLife)
	n.List(list[:2])
	if err := n.Check(t.Context(), "n2", addresses("10.9.0.22")); err != nil {
		t.Error(err)
	}
	n.List(list[:1])
	if err := n.Check(t.Context(), "n2", addresses("10.9.0.22")); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("when it has left: %v", err)
	}
	// Addresses are remembered, and looked up again only after a while.
	delete(hosts, "ib-n1")
	if err := n.Check(t.Context(), "n1", addresses("10.0.0.1")); err != nil {
		t.Error(err)
	}
	now = now.Add(life)
	if err := n.Check(t.Context(), "n1", addresses("10.0.0.1")); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("an hour later: %v", err)
	}
}
